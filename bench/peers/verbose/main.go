// Command verbose makes long queries from a corpus: titles and first sentences of its documents,
// like those that people paste and programs send.
//
//	go run ./bench/peers/verbose -count 1000 CORPUS... >verbose.txt
//
// A query is the first line or sentence of a document, or the first two, chosen at random, if that
// has 6 to 40 distinct words. Random choices are hashes of the document's number in the corpus, so
// the same corpus gives the same queries in the same order.
package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/collocate/collocate/text"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("verbose: ")
	count := flag.Int("count", 1000, "number of queries")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("want a corpus")
	}
	corpus := &text.Corpus{Paths: flag.Args()}
	if err := run(context.Background(), corpus, *count, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

const least, most = 6, 40 // distinct words of a query

// drawn is a query with a random number; run selects the queries with the lowest.
type drawn struct {
	lot   uint64
	query string
}

// run writes count queries, one per line.
func run(ctx context.Context, corpus *text.Corpus, count int, out io.Writer) error {
	var list []drawn
	worst := uint64(math.MaxUint64) // queries above it cannot be among the lowest
	keepLowest := func() {
		slices.SortFunc(list, func(a, b drawn) int { return cmp.Compare(a.lot, b.lot) })
		seen := map[string]bool{}
		list = slices.DeleteFunc(list, func(d drawn) bool {
			again := seen[d.query]
			seen[d.query] = true
			return again
		})
		if len(list) >= count {
			list = list[:count]
			worst = list[count-1].lot
		}
	}
	place := uint64(0)
	for doc, err := range corpus.All(ctx) {
		if err != nil {
			return err
		}
		lot := scatter(place)
		place++
		if lot > worst {
			continue
		}
		if q := beginning(doc.Text, 1+int(lot&1)); q != "" {
			if list = append(list, drawn{lot, q}); len(list) >= 4*count {
				keepLowest()
			}
		}
	}
	keepLowest()
	if len(list) < count {
		return fmt.Errorf("want %d queries: of %d documents only %d begin with %d to %d words",
			count, place, len(list), least, most)
	}
	w := bufio.NewWriter(out)
	for _, d := range list {
		fmt.Fprintln(w, d.query)
	}
	return w.Flush()
}

var (
	// ends matches the end of a title or sentence. It also matches an abbreviation before a name,
	// which only makes the query shorter.
	ends  = regexp.MustCompile(`(\n+)|([.?!] +)[A-Z]`)
	words = regexp.MustCompile("[a-z]+")
)

// beginning returns the distinct words, in order, of the first sentences of a text, or "" if there
// are too few or too many.
func beginning(text []byte, sentences int) string {
	at := 0
	for range sentences {
		end := ends.FindSubmatchIndex(text[at:])
		if end == nil {
			at = len(text)
			break
		}
		at += max(end[3], end[5]) // the next character begins the next sentence
	}
	var query []string
	for _, w := range words.FindAllString(strings.ToLower(string(text[:at])), -1) {
		if !slices.Contains(query, w) {
			query = append(query, w)
		}
	}
	if len(query) < least || len(query) > most {
		return ""
	}
	return strings.Join(query, " ")
}

// scatter is the mixing function of SplitMix64.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
