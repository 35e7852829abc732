package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
)

// jsonCalls has a call of every verb, in an order in which files are written before they are read.
// A verb whose output has a format of its own is called twice, and refuses --json once.
var jsonCalls = []struct{ args, refused string }{
	{args: "version"},
	{args: "tokens corpus.txt"},
	{args: "vocab corpus.txt"},
	{args: "vocab corpus.txt --out vocab.txt"},
	{args: "cooccur corpus.txt --out corpus.cooc"},
	{args: "cooccur check corpus.cooc"},
	{args: "cooccur convert corpus.cooc --out corpus.npz"},
	{args: "neighbours corpus.cooc cat alone"},
	{args: "collocations corpus.txt --min-count 1"},
	{args: "embed corpus.cooc --dim 2 --epochs 2 --out corpus.vec"},
	{args: "embed eval corpus.vec --analogies four.txt"},
	{args: "similar corpus.vec cat"},
	{args: "analogy corpus.vec the cat dog"},
	{args: "map corpus.vec --word cat"},
	{args: "words corpus.cooc --prefix c"},
	{args: "concordance corpus.txt cat"},
	{args: "keywords corpus.txt --reference words.txt --min-count 1"},
	{args: "keywords corpus.txt --reference words.txt --min-count 1 --by logratio"},
	{args: "ngrams corpus.txt --min-count 1"},
	{args: "wordlist corpus.txt"},
	{args: "dispersion corpus.txt --of cat"},
	{args: "index corpus.txt --out corpus.index"},
	{args: "index stats corpus.index"},
	{args: "analyze corpus.index --text cat"},
	{args: "describe corpus.index"},
	{args: "index check corpus.index"},
	{args: "index reorder corpus.index --out again.index"},
	{args: "index add living.index corpus.txt"},
	{args: "index delete living.index corpus.txt:1"},
	{args: "index merge living.index"},
	{args: "index backup living.index --out backup.index"},
	{args: "index compact living.index"},
	{args: "sync texts folder.index"},
	{args: "index prune corpus.index --out pruned.index"},
	{args: "index export corpus.index --ciff corpus.ciff"},
	{args: "index export corpus.index --npz corpus.npz"},
	{args: "index export corpus.index --ciff -", refused: "--ciff FILE"},
	{args: "index import corpus.ciff --out third.index"},
	{args: "shard corpus.index 2 --out corpus.shards"},
	{args: "search corpus.index cat --stats --explain"},
	{args: "search corpus.index nothing"},
	{args: "search corpus.index --topics topics.tsv --run run.txt --recall --stats"},
	{args: "search corpus.index --topics topics.tsv", refused: "--run FILE"},
	{args: "show corpus.index corpus.txt:1"},
	{args: "eval qrels.txt run.txt --per-query"},
	{args: "eval qrels.txt run.txt run.txt"},
	{args: "fuse run.txt run.txt"},
	{args: "tune corpus.index --topics topics.tsv --qrels qrels.txt --folds 2 --k1 1"},
	{args: "beir few"},
	{args: "weigh corpus.txt --out weights.tsv"},
	{args: "weigh corpus.txt --out corpus.weights"},
	{args: "weigh check corpus.weights"},
	{args: "weigh corpus.txt --index fourth.index"},
	{args: "weigh corpus.txt --out -", refused: "--out FILE"},
	{args: "dict build words.txt --out words.dict"},
	{args: "dict stats words.dict"},
	{args: "dict check words.dict"},
	{args: "dict lookup words.dict cat owl"},
	{args: "dict lookup words.dict"},
	{args: "dict bench words.txt --lookups 10 --kinds hash,xbw"},
	{args: "places points.csv -d 2 -p 0.1 --rules --instances 1"},
	{args: "places points.csv -d 2,3 -p 0.1"},
	{args: "places pairs points.csv -d 2 --permutations 9"},
	{args: "places summary points.csv"},
	{args: "places curve points.csv -d 3 --steps 3"},
	{args: "places co-occurrence points.csv -d 3"},
	{args: "places enrichment points.csv -d 2"},
	{args: "generate text --docs 2 --out text.txt"},
	{args: "generate text --docs 2", refused: "--out FILE"},
	{args: "generate vectors --count 2 --out vectors.jsonl"},
	{args: "generate queries --count 2 --out queries.tsv"},
	{args: "generate points --count 20 --out points.csv"},
	{args: "demo", refused: "the demo is for people"},
	{args: "gpu"},
	{args: "bench search corpus.index --topics topics.tsv --rounds 1 -k 1"},
	{args: "bench clients corpus.index --topics topics.tsv --clients 2 --for 50ms --every 20ms"},
	{args: "bench weigh --sizes 10kB --rounds 1"},
	{args: "bench energy --quick --for 1ms --engine multicore"},
	{args: "bench cooccur --tokens 500 --engines multicore --rounds 2"},
	{args: "bench places --quick --rounds 1 --limit 1ms --engine multicore"},
	{args: "bench thesis --engine multicore --share 0.00001 --queries 1 --runs 1 --batch 2 -k 8"},
}

// noJSON are verbs without results, and verbs that need a GPU or do not end by themselves, which
// scripts test.
var noJSON = map[string]bool{
	"collocate": true, "collocate help": true, "collocate completion": true, "collocate dict": true,
	"collocate generate": true,
	"collocate bench":    true, "collocate gpu test": true, "collocate bench papers": true, "collocate serve": true,
	"collocate worker": true, "collocate cluster": true, "collocate mcp": true,
}

// With --json every verb prints JSON with keys in lower case and nothing else, or an error that
// says why not.
func TestEveryVerbPrintsJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	must(os.MkdirAll("few/qrels", 0o755))
	must(os.MkdirAll("texts", 0o755))
	for name, content := range map[string]string{
		"few/corpus.jsonl":   `{"_id": "d", "title": "", "text": "a cat"}`,
		"few/queries.jsonl":  `{"_id": "q", "text": "cat"}`,
		"few/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq\td\t1\n",

		"texts/a.md": "# The cat\n",
		"corpus.txt": "the cat sat on the mat\nthe dog saw the cat\nalone\n",
		"words.txt":  "cat\ndog\n",
		"four.txt":   "the cat the dog\n",
		"topics.tsv": "1\tcat mat\n2\tdog\n",
		"qrels.txt":  "1 0 corpus.txt:1 1\n2 0 corpus.txt:2 1\n",
		"points.csv": "x,y,kind\n0,0,cafe\n0,1,bar\n1,1,pub\n9,9,pub\n",
	} {
		if err := os.WriteFile(filepath.Join(".", name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seen, asked := map[string]bool{}, map[*api.Question]bool{}
	for _, c := range jsonCalls {
		if testing.Short() && strings.HasPrefix(c.args, "bench places") { // takes a second; bench weigh prints likewise
			seen["collocate bench places"] = true
			continue
		}
		var out, errs bytes.Buffer
		root := newRoot(newApp(strings.NewReader(""), &out, &errs), append(strings.Fields(c.args), "--json")...)
		cmd, err := root.ExecuteContextC(t.Context())
		seen[cmd.CommandPath()] = true
		if c.refused != "" {
			var usage usageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.refused) || out.Len() > 0 {
				t.Errorf("%s: error %v, printed %q; want a usage error with %q and no output",
					c.args, err, out.String(), c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if q := questionOf(cmd.CommandPath(), c.args); q != nil {
			asked[q] = true
			checkAnswer(t, c.args, out.Bytes(), q.Answer(api.Command))
		}
		checkJSON(t, c.args, &out)
	}
	for _, q := range api.Questions() {
		if q.Without(api.Command) == "" && !asked[q] {
			t.Errorf("%s: --json was not compared with the answer of other doors: want a call in jsonCalls", q.Name)
		}
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		path := cmd.CommandPath()
		if cmd.Runnable() && !seen[path] && !noJSON[path] && !strings.HasPrefix(path, "collocate completion ") &&
			!strings.HasPrefix(path, "collocate cluster ") {
			t.Errorf("%s: --json was not tried: want a call in jsonCalls, or a line in noJSON", path)
		}
	}
	visit(newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)))
}

// questionOf returns the question that a call asks, or nil if it asks for something else, such as a
// run of many queries.
func questionOf(path, args string) *api.Question {
	if strings.Contains(args, "--topics") && !strings.HasPrefix(args, "tune") {
		return nil
	}
	if args == "eval qrels.txt run.txt run.txt" {
		return api.CompareQuestion
	}
	for _, q := range api.Questions() {
		if path == "collocate "+q.In(api.Command) && q.Without(api.Command) == "" && q != api.CompareQuestion {
			return q
		}
	}
	return nil
}

// onlyCommand are fields that the JSON of the command has beside those of other doors: what was
// measured.
var onlyCommand = []string{"energy", "approximate", "recall"}

// checkAnswer checks that JSON has the fields of the type that all doors answer with, which other
// doors marshal, and no others. So a program that reads one door reads them all.
func checkAnswer(t *testing.T, what string, text []byte, of reflect.Type) {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var check func(at string, v any, of reflect.Type)
	check = func(at string, v any, of reflect.Type) {
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch list, isList := v.([]any); {
		case isList && (of.Kind() == reflect.Slice || of.Kind() == reflect.Array):
			for _, inner := range list {
				check(at+"[]", inner, of.Elem())
			}
			return
		case of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Marshaler]()):
			return
		}
		object, isObject := v.(map[string]any)
		if !isObject {
			t.Errorf("%s: %s is %T: want an object, as %v is", what, at, v, of)
			return
		}
		fields := fieldsOf(of)
		for name, inner := range object {
			if f, ok := fields[name]; ok {
				check(at+"."+name, inner, f.Type)
			} else if !slices.Contains(onlyCommand, name) {
				t.Errorf("%s: %s.%s is not in %v, the answer of other doors", what, at, name, of)
			}
		}
		for name, f := range fields {
			if _, ok := object[name]; !ok && !strings.Contains(f.Tag.Get("json"), ",") {
				t.Errorf("%s: %s has no %s, as the answer of other doors has", what, at, name)
			}
		}
	}
	check("", v, of)
}

// fieldsOf returns the fields of a struct by their names in JSON. Those of an embedded pointer may
// all be absent, as the patterns of several distances have none.
func fieldsOf(of reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			for name, g := range fieldsOf(inner) {
				if f.Type != inner {
					g.Tag = reflect.StructTag(strings.ReplaceAll(string(g.Tag), name+`"`, name+`,omitempty"`))
				}
				fields[name] = g
			}
		} else if f.IsExported() && name != "-" {
			fields[name] = f
		}
	}
	return fields
}

// checkJSON checks a stream of one or more JSON values.
func checkJSON(t *testing.T, what string, from io.Reader) {
	t.Helper()
	in := json.NewDecoder(from)
	for n := 0; ; n++ {
		var v any
		err := in.Decode(&v)
		if err == io.EOF && n > 0 {
			return
		}
		if err != nil || v == nil {
			t.Errorf("%s: value %d is %v, %v; want valid JSON", what, n+1, v, err)
			return
		}
		for _, key := range upperKeys(v) {
			t.Errorf("%s: key %q is not in lower case", what, key)
		}
	}
}

// upperKeys lists keys in upper case, as Go derives them from struct fields without a tag. Measures
// such as P_10 and features of places are data and may be in upper case.
func upperKeys(v any) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if unicode.IsUpper(rune(key[0])) && strings.ToLower(key[1:]) == key[1:] &&
				!strings.Contains(key, "_") && key != "Rprec" {
				list = append(list, key)
			}
			list = append(list, upperKeys(inner)...)
		}
	case []any:
		for _, inner := range v {
			list = append(list, upperKeys(inner)...)
		}
	}
	return list
}
