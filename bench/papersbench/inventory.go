package papersbench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/collocate/collocate/bench/report"
)

// The tables and figures of the five documents, with those of their numbers that can be read.
// Decimal commas are written as points.

// paper is one of the five documents.
type paper struct {
	ID      string // short name, such as "thesis"
	Title   string
	Machine string // on which its numbers were measured
	Differs string // how its setting differs from ours, for all items
	Items   []item
}

// item is a table or a figure.
type item struct {
	Number  string // "Table 5.4"
	Shows   string
	Paper   string // the paper's values, or what its text says about a picture
	Differs string // how this item differs, in addition to the paper's Differs
	kind    kind
	gpu     bool // the paper's values were measured on a GPU
	recall  bool // the values are recall, not times
	rounds  int  // the paper's times are means of this many runs; 0 means that it does not say
	ours    func(*pages) (string, error)
}

// kind is what an item contains that can be compared.
type kind int

const (
	numbers kind = iota // numbers
	told                // a picture without numbers; the text gives trends or ratios
	setting             // parameters of the measurements
	drawing             // an explanation, no measurement
)

// mark returns whether and how an item was compared, for the page. ours is our value, err the
// reason why it is missing. device means that there was a GPU, small that our data are smaller than
// the paper's.
func (i *item) mark(ours string, err error, device, small bool) string {
	except := ""
	if strings.Contains(ours, "scaled from") {
		except += "; not measured in full, but scaled from a sample, where it says so"
	}
	if fewerRounds.MatchString(ours) {
		except += "; of fewer rounds where it says so"
	}
	if strings.Contains(ours, givenUp) {
		except += "; given up after the time limit where it says so"
	}
	switch {
	case i.kind == drawing:
		return "cannot be compared: measures nothing"
	case i.kind == setting:
		return "cannot be compared: a setting"
	case err != nil:
		return "cannot be compared: " + err.Error()
	case i.gpu && !device && !i.recall:
		return "cannot be compared: ours are of cores, the paper's of a GPU"
	case strings.Contains(ours, givenUp) && !measured.MatchString(ours):
		return "cannot be compared: all jobs were given up after the time limit"
	case i.kind == told:
		return "compared in words: drawn, no numbers in the text" + except
	case small && i.recall:
		return "compared with care: our lists are shorter, and recall depends on their lengths"
	case small:
		return "cannot be compared: our data are smaller in this run" + except
	}
	return "compared" + except
}

// givenUp stands for a value of a job that took too long; measured finds one that was measured.
const givenUp = "given up"

// fewerRounds finds the note of a mean of fewer rounds.
var fewerRounds = regexp.MustCompile(`[(;] ?\d+ rounds?\)`)

var measured = regexp.MustCompile(`\d ms\b`)

// differs returns how the item's setting differs from ours; rounds are those of our job.
func (i *item) differs(rounds int) string {
	if i.rounds == 0 || i.rounds == rounds {
		return i.Differs
	}
	s := fmt.Sprintf("times are means of %s here, of %d in the paper", report.Count(rounds, "round"), i.rounds)
	if i.Differs != "" {
		s = i.Differs + "; " + s
	}
	return s
}

func drawings(numbers []string, shows ...string) (out []item) {
	for i, s := range shows {
		out = append(out, item{Number: "Figure " + numbers[i], Shows: s, kind: drawing})
	}
	return out
}

// papers returns the five documents.
func papers() []paper {
	return []paper{thesisPaper(), cooccurPaper(), weighJapanese(), weighPaper(), placesPaper()}
}

// thesisPart is a section of chapter 5: its name in the names of tables, and the thesis' results.
type thesisPart struct {
	name                       string // "wand-or"
	shows                      string // "WAND, OR"
	sequential, times, recall  string // numbers of tables
	base, speedups, recalls    string // the thesis' values
	one, curves, curvesTold    string
	oneTold, tenTold, policies string
	ten                        []string
}

var thesisParts = []thesisPart{
	{
		name: "wand-or", shows: "WAND, OR", sequential: "5.3", times: "5.4", recall: "5.5",
		base:     "14.01, 42.86, 45.52, 202.79 ms",
		speedups: "homogeneous 0.51, 2.05, 3.11, 27.12 ms (27.6x, 20.9x, 14.6x, 7.5x); heterogeneous 1.76, 3.56, 4.22, 19.45 ms (7.9x, 12.0x, 10.8x, 10.4x)",
		recalls:  "0.890, 0.897, 0.833, 0.905",
		one:      "5.1", oneTold: "as table 5.4: homogeneous 25, 13, 4, 0.4x; heterogeneous 8, 11, 6, 0.9x",
		ten: []string{"5.2", "5.3"}, tenTold: "as table 5.4: sharing a threshold pays for long and extra lists only",
		curves: "5.4 5.5", curvesTold: "all but short gain up to 10 in a row; extra up to 100, beyond 10x",
	},
	{
		name: "wand-and", shows: "WAND, AND", sequential: "5.6", times: "5.7", recall: "5.8",
		base:     "13.83, 42.43, 45.44, 200.77 ms",
		speedups: "homogeneous 0.34, 1.80, 3.12, 27.32 ms (40.7x, 23.6x, 14.6x, 7.3x); heterogeneous 0.77, 2.68, 5.68, 19.89 ms (18.0x, 15.9x, 8.0x, 10.1x)",
		recalls:  "0.891, 0.887, 0.821, 0.812",
		one:      "5.6", oneTold: "as table 5.7: homogeneous 40, 18, 5, 0.4x; heterogeneous 18, 15, 5.5, 0.9x",
		ten: []string{"5.7", "5.8"}, tenTold: "as table 5.7: policies differ little, sh-r slightly ahead",
		curves: "5.9 5.10", curvesTold: "extra gains up to 100 in a row; the others lose there",
	},
	{
		name: "maxscore-or", shows: "MaxScore, OR", sequential: "5.9", times: "5.10", recall: "5.11",
		base:     "6.26, 33.33, 69.18, 334.31 ms",
		speedups: "homogeneous 0.45, 2.00, 3.54, 27.98 ms (13.9x, 16.7x, 19.6x, 12.0x); heterogeneous 2.23, 3.58, 6.02, 21.80 ms (2.8x, 9.3x, 11.5x, 15.3x)",
		recalls:  "0.749, 0.781, 0.815, 0.855",
		one:      "5.11", oneTold: "as table 5.10: alike for medium, long and extra",
		ten: []string{"5.12"}, tenTold: "as table 5.10: sh-r 40% faster than local on extra",
		curves: "5.13 5.14", curvesTold: "short best at 1 in a row, medium and long at 10, extra at 100",
		policies: "5.15",
	},
	{
		name: "maxscore-and", shows: "MaxScore, AND", sequential: "5.12", times: "5.13", recall: "5.14",
		base:     "6.31, 33.43, 70.08, 331.06 ms",
		speedups: "homogeneous 0.34, 1.74, 3.27, 27.62 ms (18.4x, 19.2x, 21.4x, 12.0x); heterogeneous 1.87, 2.90, 6.47, 22.19 ms (3.4x, 11.5x, 10.8x, 14.9x)",
		recalls:  "0.777, 0.783, 0.781, 0.789",
		one:      "5.16", oneTold: "as table 5.13: sharing gains nothing at 1 in a row",
		ten: []string{"5.17"}, tenTold: "as table 5.13: about 12x heterogeneous on extra",
		curves: "5.18 5.19", curvesTold: "short best at 1 in a row, medium at 5 or 1, long at 10; extra gains up to 10",
		policies: "5.20",
	},
}

func thesisPaper() paper {
	p := paper{
		ID:      "thesis",
		Title:   "R. Gaioso, Paralelização de algoritmos de busca de documentos mais relevantes na Web utilizando GPUs, UFSCar 2019",
		Machine: "NVIDIA Titan Xp (30 multiprocessors, 547.7 GB/s, CUDA 9.1); sequential: one core of an Intel i7-5820K, Java 1.8 in Terrier 4.2",
		Differs: "ClueWeb09-B cannot be distributed: lists of the same lengths with random documents are generated. Values are short, medium, long, extra.",
	}
	p.Items = append(p.Items,
		drawings(strings.Fields("2.1 2.2 3.1 3.2 3.3 3.4 3.5 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 4.10 4.11 4.12 4.13"),
			"an inverted index", "precision and recall", "architecture of a GPU", "threads on a GPU",
			"the PRAM", "the BSP model", "a BSP/CGM program",
			"lists divided among processors", "homogeneous partitions",
			"first and last documents of partitions", "heterogeneous partitions",
			"heap and threshold of each processor", "partitions and threads",
			"results kept from partition to partition", "slices of a partition in shared memory",
			"insertion into a heap with room", "insertion into a full heap",
			"homogeneous partitions that cut documents", "adjusted partitions",
			"parallel WAND on multiprocessors")...)
	p.Items = append(p.Items,
		item{Number: "Table 5.1", Shows: "hardware", Paper: "see the machine above", kind: setting},
		item{Number: "Table 5.2", Shows: "postings a list of the four classes",
			Paper: "89,615, 476,771, 1,032,795, 5,494,285", kind: setting,
			Differs: "the heading of its table says postings of a list, as here; its text says that a query has so many in all, and that its longest list has 2.7 million: then lists are twice as long here",
			ours:    column("thesis-table-5.3", "queries", "postings a list", "")})
	for _, s := range thesisParts {
		p.Items = append(p.Items, s.items()...)
	}
	p.Items = append(p.Items, item{Number: "Figure 6.1", Shows: "queries of a batch in streams", kind: drawing})
	p.Items = append(p.Items, batchItems()...)
	for i := range p.Items {
		it := &p.Items[i]
		it.gpu = !strings.HasSuffix(it.Shows, "one core")
	}
	return p
}

// adjustedHere explains the name of a partition.
const adjustedHere = "adjusted are the thesis' homogeneous partitions with the shift of its section 4.5.4"

// over adds to a difference that one core intersects lists for AND.
func (s *thesisPart) over(differs string) string {
	if !s.and() {
		return differs
	}
	return differs + "; one core intersects the lists here, so that speedups over it are smaller than over one core as written, whose MaxScore is not exact"
}

func (s *thesisPart) and() bool { return strings.HasSuffix(s.name, "-and") }

// best returns the best times; with AND, speedups are also over one core as written, which does not
// intersect lists either.
func (s *thesisPart) best() func(*pages) (string, error) {
	if s.and() {
		return bestSingle(s.name, "thesis-table-"+s.sequential)
	}
	return bestSingle(s.name, "")
}

func (s *thesisPart) items() []item {
	out := []item{
		{Number: "Table " + s.sequential, Shows: s.shows + ", one core", Paper: s.base,
			Differs: s.over("Go instead of Java; as written is the thesis' pseudocode on uncompressed lists"),
			ours: both(column("thesis-table-"+s.sequential, "queries", "ms", " ms"),
				column("thesis-table-"+s.sequential, "queries", "as written: ms", " ms as written"))},
		{Number: "Table " + s.times, Shows: s.shows +
			", parallel, 24 settings: the best of each class", Paper: s.speedups,
			Differs: s.over(adjustedHere), ours: s.best()},
		{Number: "Table " + s.recall, Shows: s.shows + ", recall of homogeneous partitions, sh-r",
			Paper: s.recalls, Differs: "the thesis does not say for which size; partitions of 64 here, of the exact result; it compares with its own sequential algorithm, which is not exact if MaxScore is read as written", recall: true, ours: recallOf("thesis-table-" + s.recall)},
		{Number: "Figure " + s.one, Shows: s.shows + ", speedup by class, 1 partition in a row",
			Paper: s.oneTold, kind: told, ours: classes("thesis-figure-" + s.one)},
	}
	for _, n := range s.ten {
		out = append(out, item{Number: "Figure " + n,
			Shows: s.shows + ", speedup by class, 10 in a row", Paper: s.tenTold, kind: told,
			ours: classes("thesis-figure-" + n)})
	}
	cuts := []string{"homogeneous", "heterogeneous"}
	for i, n := range strings.Fields(s.curves) {
		out = append(out, item{Number: "Figure " + n,
			Shows: s.shows + ", " + cuts[i] + ", speedup by partitions in a row",
			Paper: s.curvesTold, kind: told,
			Differs: "partitions of 32 and policy sh-r here; the page has all policies",
			ours:    peaks("thesis-figure-"+n+"-sh-r", "x", false)})
	}
	if s.policies != "" {
		out = append(out, item{Number: "Figure " + s.policies,
			Shows: s.shows + ", heterogeneous, extra: policies",
			Paper: "shared thresholds 60% faster than local at 100 in a row, sh-r best", kind: told,
			ours: peaks("thesis-figure-"+s.policies, "x", false)})
	}
	return out
}

// batchItems are those of chapter 7. Times marked as derived are table 7.1's divided by the speedup
// that the text gives.
func batchItems() []item {
	out := []item{
		{Number: "Table 7.1", Shows: "a batch of 500 queries on one core",
			Paper:   "WAND 17.106 s, MaxScore 22.763 s",
			Differs: "generated queries instead of the Yahoo log; fewer in a quick run",
			ours:    column("thesis-table-7.1", "algorithm", "s", " s")},
		{Number: "Table 7.2", Shows: "asynchronous batch, WAND: the best of 1 and 10 in a row",
			Paper:   "homogeneous 1.33 s (12.9x), heterogeneous 0.82 s (20.8x)",
			Differs: adjustedHere, ours: bestBatch("wand", "1 and 10 in a row")},
		{Number: "Table 7.3", Shows: "asynchronous batch, MaxScore: the best of 1 and 10 in a row",
			Paper: "homogeneous 1.51 s (15.1x), heterogeneous 3.18 s (7.2x)", Differs: adjustedHere,
			ours: bestBatch("maxscore", "1 and 10 in a row")},
		{Number: "Table 7.4", Shows: "synchronous batch by threads in a block",
			Paper: "WAND 0.809, 0.799, 0.813 s (21x); MaxScore 3.072, 3.071, 3.079 s (7.4x)",
			ours:  syncBatch},
	}
	for _, x := range []struct{ number, shows, paper, plot, unit string }{
		{"7.1", "batch, WAND, homogeneous: seconds by partitions in a row",
			"partitions of 128 best up to 100 in a row, then alike", "7.1-sh-r", " s"},
		{"7.2", "batch, WAND, homogeneous, partitions of 128: speedup",
			"about 40x (derived: 0.43 s) at 250 in a row; sharing 78% faster than local at 100", "7.2", "x"},
		{"7.3", "batch, WAND, heterogeneous: seconds by partitions in a row",
			"best from 100 to 250 in a row", "7.3-sh-r", " s"},
		{"7.4", "batch, WAND, heterogeneous, partitions of 32: speedup",
			"about 25x (derived: 0.68 s) shared, 22x local, at 250 in a row", "7.4", "x"},
		{"7.5", "batch, MaxScore, homogeneous: seconds by partitions in a row",
			"below 1 s from 100 in a row on, with partitions of 32 and 64", "7.5-sh-r", " s"},
		{"7.6", "batch, MaxScore, homogeneous, partitions of 32: speedup",
			"about 40x (derived: 0.57 s) above 100 in a row", "7.6", "x"},
		{"7.7", "batch, MaxScore, heterogeneous: seconds by partitions in a row",
			"3 to 4 s from 5 in a row on", "7.7-sh-r", " s"},
		{"7.8", "batch, MaxScore, heterogeneous, partitions of 32: speedup", "policies do not differ", "7.8", "x"},
	} {
		out = append(out, item{Number: "Figure " + x.number, Shows: x.shows, Paper: x.paper,
			kind: told, ours: peaks("thesis-figure-"+x.plot, x.unit, x.unit == " s")})
	}
	return out
}

func cooccurPaper() paper {
	return paper{
		ID:      "cooccur",
		Title:   "Parallel vocabulary and word co-occurrence on multicore and manycore (in Portuguese; title unknown)",
		Machine: "AMD A10-7850K, 4 cores, 16 GB; NVIDIA GTX 1050 Ti; NVMe SSD",
		Differs: "Generated text with the numbers of the 1 Billion Word Benchmark, which has 719 million words; a quick run has fewer.",
		Items: append(drawings([]string{"1", "2"}, "architecture of a GPU", "a symmetric window of 2"),
			item{Number: "Table 1", Shows: "seconds for vocabulary and matrix, window 2", rounds: 10,
				Paper: "sequential 245.397, multicore 85.130, GPU 15.210, GloVe 447.046; with writing 266.575, 108.613, 21.829, 459.563",
				ours: both(column("cooccur-table1-window-2", "engine", "seconds", " s"),
					column("cooccur-table1-window-2", "engine", "with writing", " s with writing")),
				Differs: "beyond 5 million words, sequential, Algorithm 3 and GloVe are measured on a sample, and their times scaled; gpu (paper) has the paper's sizes, tables of up to a third of the memory, 768 MB of text a kernel and 2 streams, but takes windows of up to 64 words, where the paper takes any, and moves pairs to a sorted list before its table is full"}),
	}
}

// The two papers on term weighting share their machine and most of their measurements.
const (
	weighMachine = "Intel i7-6700K, 4 cores, 16 GB; NVIDIA GTX 970; Ubuntu 14.04, CUDA 7.5"
	weighDiffers = "Words follow a law and lengths fitted to the paper's statistics instead of ClueWeb09-B's; a quick run has smaller texts."
	weighTimes   = "PPD 5.0 to 5.1 times as fast as MRP and 3.8 to 4.5 as PP; MRM no faster than MRP, "
	// The size of the text in the Japanese paper's figures 4 and 5: its 300 MB are MiB.
	papersSteps = "314.6"
	weighTexts  = "500 MB: 89,409,102 words, 122,178 documents, 55,165,752 pairs, 1,203,716 terms"
)

func weighJapanese() paper {
	return paper{
		ID: "weigh-2016", Title: "BM25 term weighting on GPUs with data-parallel primitives and a dictionary (in Japanese; title unknown)", Machine: weighMachine, Differs: weighDiffers,
		Items: append(drawings([]string{"1", "2"}, "data-parallel primitives", "the eight steps"),
			item{Number: "Table 1", Shows: "the five texts", Paper: weighTexts, ours: lastRow("weigh-texts", "MB", "")},
			item{Number: "Figure 3", Shows: "time of the methods by size of the text",
				Paper: weighTimes + "and not from 400 MB on", kind: told,
				ours: both(lastRow("weigh-ratios", "MB, times as fast", "x"),
					lastRow("weigh-times", "MB", " ms"))},
			item{Number: "Figure 4", Shows: "steps of MapReduce, 300 MB",
				Paper: "MRM's reduce step takes much though it has no strings", kind: told,
				ours: both(steps("mrp", papersSteps), steps("mrm", papersSteps))},
			item{Number: "Figure 5", Shows: "steps of PP and PPD, 300 MB",
				Paper: "PP mostly sorts; the dictionary takes about 45% of PPD's time without transfers", kind: told,
				ours: both(steps("pp", papersSteps), steps("ppd-published", papersSteps))}),
	}
}

func weighPaper() paper {
	return paper{
		ID: "weigh-2017", Title: "T. Wakatsuki, A. Keyaki, J. Miyazaki, A Case for Term Weighting using a Dictionary on GPUs", Machine: weighMachine, Differs: weighDiffers,
		Items: append(drawings([]string{"1", "2", "3", "4"}, "a trie", "transitions by b",
			"data-parallel primitives", "the eight steps"),
			item{Number: "Table 1", Shows: "a state transition table", kind: drawing},
			item{Number: "Table 2", Shows: "the five texts", Paper: weighTexts, ours: lastRow("weigh-texts", "MB", "")},
			item{Number: "Figure 5", Shows: "time of the methods by size of the text",
				Paper: weighTimes + "and not with more than 400 MB", kind: told,
				ours: both(lastRow("weigh-ratios", "MB, times as fast", "x"),
					lastRow("weigh-times", "MB", " ms"))},
			item{Number: "Figure 6", Shows: "steps of MRP and MRM",
				Paper: "MRM's reduce step takes much though it has no strings", kind: told,
				ours: both(steps("mrp", ""), steps("mrm", ""))},
			item{Number: "Figure 7", Shows: "steps of PP and PPD",
				Paper: "PP mostly sorts; PPD's time \"without data transfer occupies about 45%\": the Japanese paper says that of the dictionary", kind: told,
				ours: both(steps("pp", ""), steps("ppd-published", ""))},
			item{Number: "Figure 8", Shows: "memory of the dictionary by vocabulary",
				Paper: "XBW takes 40 times less than STT", kind: told,
				ours: onDevice(curves("dict-device-by-vocabulary", 1, "vocabulary", "MB", " MB"), lastRow("dict-memory", "words", " MB"))},
			item{Number: "Figure 9", Shows: "time of look-ups by length of the text",
				Paper: "in proportion to the text; STT depends on the vocabulary, XBW little",
				kind:  told, gpu: true,
				ours: onDevice(curves("dict-device-by-length", 2, "words", "ms", " ms"), lastRow("dict-by-length", "words", " ms"))},
			item{Number: "Figure 10", Shows: "memory on the GPU by vocabulary", Paper: "drawn only",
				kind: told, gpu: true, ours: curves("dict-device-by-vocabulary", 1, "vocabulary", "MB in all", " MB")},
			item{Number: "Figure 11", Shows: "time per character, words by frequency, by vocabulary",
				Paper: "XBW faster than STT for a large vocabulary", kind: told, gpu: true,
				ours: onDevice(curves("dict-device-by-vocabulary", 1, "vocabulary", "frequent ns/char", " ns"), lastRow("dict-frequent", "words", " ns"))},
			item{Number: "Figure 12", Shows: "time per character, words uniform, by vocabulary",
				Paper: "both rise with the vocabulary", kind: told, gpu: true,
				ours: onDevice(curves("dict-device-by-vocabulary", 1, "vocabulary", "uniform ns/char", " ns"), lastRow("dict-uniform", "words", " ns"))},
			item{Number: "Table 3", Shows: "mean and variance of the words' lengths in a text, by vocabulary", Paper: "by frequency 4.55, 4.78, 4.84, 4.86 (variance 6.34, 6.91, 7.09, 7.24); uniform 6.66, 7.12, 7.84, 9.44 (6.42, 7.04, 8.32, 17.2)",
				Differs: "the sizes of its vocabularies are not known; lengths are fitted to these values for 10 thousand to 10 million words", ours: onDevice(lengths("dict-device-lengths", 2), lengths("dict-lengths", 1))}),
	}
}

// bitmapsHere says what our SGCT on the GPU does otherwise.
const bitmapsHere = "SGCT on the GPU grows the thesis' trees of instances, but counts the distinct ones as bits of a bitmap for each candidate and feature; the thesis sorts them and uses reduce_by_key, which it names as what to improve first; sgct as published does so"

func placesPaper() paper {
	p := paper{
		ID: "places", Title: "M. Jabłoński, Ł. Kosiak, P. Kurzawa, M. Rydlewski, Implementacja algorytmu eksploracji danych z użyciem CUDA API, Poznań 2017",
		Machine: "Intel i7-930, 24 GB; two NVIDIA GTX Titan in SLI, of which its program uses one; Windows Server 2012 R2",
		Differs: "The points are drawn by our generator, not by Boiński's; as in the thesis a time is a mean of 20 rounds, of fewer if these take more than a fifth of the limit together, which is 20 s for a job, 10 s without a GPU. A quick run measures each job once, with a limit of one second.",
		Items: append(drawings([]string{"1", "2", "3"}, "neighbouring locations",
			"warps over instances", "sorted tables of pairs"),
			item{Number: "Table 1", Shows: "parameters",
				Paper:   "prevalence 0.2 and distance 3 by size; 0.1 to 0.5 and 5; 5 and 2 to 6",
				Differs: "a prevalence of 5 cannot be: 0.2 here",
				kind:    setting}),
	}
	for i, x := range []struct{ shows, paper, table, differs string }{
		{"whole job by points", "GPU slowest on few points, fastest on many", "figure-4-by-points", bitmapsHere},
		{"finding neighbours by points", "one core fastest on few points", "figure-5-neighbours", ""},
		{"finding neighbours on the GPU, with preparation", "preparation takes most of the time",
			"figure-6-preparation", ""},
		{"whole job by distance, sparse", "GPU slower than the cores", "figure-7-by-distance", bitmapsHere},
		{"whole job by distance, dense", "GPU fastest from some distance on", "figure-8-by-distance", bitmapsHere},
		{"whole job by distance, sparse with two clusters", "GPU much slower than the cores", "figure-9-by-distance", bitmapsHere},
		{"whole job by distance, dense with two clusters", "as figure 8", "figure-10-by-distance", bitmapsHere},
		{"whole job by prevalence", "GPU between the cores and one core; slowest above 0.3", "figure-11-by-prevalence", bitmapsHere},
	} {
		p.Items = append(p.Items, item{Number: fmt.Sprintf("Figure %d", 4+i), Shows: x.shows,
			Paper: x.paper, kind: told, rounds: 20, Differs: x.differs, ours: ends("places-"+x.table, " ms")})
	}
	return p
}

// numbers returns the numbers of a paper's tables and figures, as the page lists them.
func (p *paper) numbers() []string {
	var out []string
	for _, i := range p.Items {
		out = append(out, i.Number)
	}
	slices.Sort(out)
	return out
}
