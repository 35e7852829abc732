package trec

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

func TestTopicsOfEveryFormat(t *testing.T) {
	want := []Topic{{"1", "black bear attacks"}, {"2", "steel"}}
	for name, file := range map[string]string{
		"TREC":       "\n<top>\n\n<num> Number: 1\n<title> black bear\n attacks\n\n<desc> Description:\nHow many?\n</top>\n<top>\n<num> Number: 2 \n<title> steel\n<narr> no\n</top>\n",
		"web track":  "<top>\n<num>1</num><title>\nblack bear\nattacks\n</title>\n<desc>\nx\n</desc>\n</top>\n<TOP>\n<NUM>2</NUM>\n<TITLE>steel</TITLE>\n</TOP>",
		"SMART":      ".I 001\r\n.W\r\nblack bear\r\nattacks\r\n.I 002\r\n.W\r\nsteel\r\n.A\r\nSmith\r\n.I 3\r\n",
		"TSV":        "1\tblack bear attacks\n\n2\tsteel\n",
		"colon":      "1:black bear attacks\n2:steel",
		"JSON":       "{\"query\": \"black bear attacks\", \"tags\": [\"union\"]}\n{\"id\": 2, \"text\": \"steel\"}\n",
		"JSON list":  "[{\"query_id\": 1, \"query\": \"black bear attacks\"},\n {\"query_id\": \"2\", \"text\": \"steel\"}]\n",
		"JSON long":  "{\n  \"qid\": 1,\n  \"title\": \"black bear attacks\"\n}\n{\n  \"qid\": 2,\n  \"title\": \"steel\"\n}\n",
		"big header": "ID\tQuery Text\n1\tblack bear attacks\n2\tsteel\n",
		"header":     "qid\tquery\n1\tblack bear attacks\n2\tsteel\n",
		"CSV":        "text,id\n\"black bear attacks\",1\nsteel,2\n",
		"million":    "1:4:black bear attacks\n2:1:steel\n",
		"XML":        "<topics task=\"adhoc\">\n<topic number=\"1\" type=\"faceted\">\n<query>black bear attacks</query>\n<narrative>no</narrative></topic>\n<topic number=\"2\"><query>steel</query></topic></topics>",
		"BOM":        "\ufeff1\tblack bear attacks\n2\tsteel\n",
	} {
		got, err := ParseTopics(strings.NewReader(file), name, TopicOptions{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for name, file := range map[string]string{
		"empty": "", "no separator": "hello world", "twice": "1:a\n1:b\n", "unnamed": "<top>\n<title> x\n</top>\n",
		"nested": "<top>\n<top>\n", "JSON": "{\"id\":\"1\"}\n", "not JSON": "{hello\n",
		"no ID": "\tx\n", "tag": "<top\n", "not a tag": "<1>\n",
		"blanks": "a b\tx\n", "JSON number": "[1]", "ragged": "qid\tquery\n1\tx\ty\n",
		"columns": "1\ta b\tc\n", "header": "ID\tFrage\n1\tx\n", "Latin-1": "1\tcaf\xe9\n",
		"SMART subset": ".I 10\n.W\nx\n.I 20\n.W\ny\n",
		"no title":     "<top>\n<num> 1\n<desc> x\n</top>\n",
		"cut JSON":     "[{\"id\":1,\n\"query\":\"x\"",
	} {
		if got, err := ParseTopics(strings.NewReader(file), "f", TopicOptions{Encoding: text.UTF8}); err == nil {
			t.Errorf("%s: topics %q, want an error", name, got)
		} else if !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%s: %v does not name the file", name, err)
		}
	}
}

// An error in a table of topics names one line, and tells a wrong number of columns from a quote
// that is not closed.
func TestErrorsInTablesOfTopics(t *testing.T) {
	for file, want := range map[string]string{
		"id,query\n1,a\n2,b,c\n":    "f:3: 3 columns, want 2 as in the header",
		"id,query\n1\n":             "f:2: 1 columns, want 2 as in the header",
		"id\tquery\n1\ta\tb\n":      "f:2: 3 columns, want 2 as in the header",
		"id,query\n1,a\n2,\"bear\n": `f:3: byte 8: extraneous or missing " in quoted-field`,
		"id,query\n1,be\"ar\n":      `f:2: byte 5: bare " in non-quoted-field`,
	} {
		_, err := ParseTopics(strings.NewReader(file), "f", TopicOptions{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", file, err, want)
		}
	}
}

// A note says what was guessed or left out, once, in a line that names the file.
func TestTopicsTellWhatWasGuessed(t *testing.T) {
	for file, want := range map[string]string{
		"1:4:bear\n2:1:steel\n":                                                 "f: read as ID:priority:text, as in the Million Query track; the priorities are left out (2 of 2)",
		"1:4:bear\n2:steel\n":                                                   "",
		"{\"query\":\"bear\"}\n{\"id\":7,\"query\":\"x\"}":                      "f: topics without an ID are named by their position (1 of 2)",
		".I 4\n.W\nbear\n":                                                      "f: topics are numbered by position, not by the numbers after .I (1 of 1)",
		"{\"id\":1,\"qid\":2,\"text\":\"bear\"}\n":                              "f: the topics' IDs are taken from id, not from qid",
		"{\"id\":1,\"title\":\"a\",\"text\":\"b\"}":                             "f: queries are taken from text, not from title",
		"<top>\n<num> 1\n<desc> x\n</top>\n<top>\n<num> 2\n<title> x\n</top>\n": "f: topics without a <title> (or <query>) are left out: other fields are not taken for queries (1 of 2)",
		"1\tbear\n2\t\n":                                                        "f: topics without text are left out (1 of 2)",
	} {
		got := ""
		if _, err := ParseTopics(strings.NewReader(file), "f",
			TopicOptions{IDs: ByPosition, Note: func(line string) { got += line }}); err != nil ||
			got != want {
			t.Errorf("%q: note %q, %v, want %q", file, got, err, want)
		}
	}
}

// With weights, the tokens of a topic come before its words, and something else there is an error.
func TestWeightsOfTopics(t *testing.T) {
	for file, want := range map[string]string{
		`{"qid":1,"query":"a b","query_toks":{"a":1.5}}`:     `{"a":1.5}`,
		`{"qid":1,"query":"a b","vector":{"b":2},"toks":{}}`: "f: no topics",
		`{"qid":1,"query":{"b":2}}`:                          `{"b":2}`,
		`{"qid":1,"query":"a b","query_toks":null}`:          "a b",
		`{"qid":1,"vector":"a b"}`:                           "a b",
		`{"qid":1,"query":"a","query_toks":[["a",1]]}`:       "f:1: query_toks: want an object",
		`{"qid":1,"query":"a","toks":{"a":"1"}}`:             "f:1: toks: a weight is not a number",
	} {
		got := ""
		topics, err := ParseTopics(strings.NewReader(file), "f", TopicOptions{Weights: true})
		if err != nil {
			got = err.Error()
		} else if len(topics) > 0 {
			got = topics[0].Text
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// The IDs of SMART topics are positions or the numbers after .I, as TopicIDs says.
func TestNamesOfSMARTTopics(t *testing.T) {
	for _, c := range []struct {
		ids  TopicIDs
		file string
		want string
	}{
		{ByPosition, ".I 10\n.W\nx\n.I 020\n.W\ny\n", "1 2"},
		{ByNumber, ".I 10\n.W\nx\n.I 020\n.W\ny\n", "10 20"},
		{GuessIDs, ".I q-a\n.W\nx\n.I q-b\n.W\ny\n", "q-a q-b"},
		{GuessIDs, ".I 1\n.W\nx\n.I 02\n.W\ny\n", "1 2"},
	} {
		topics, err := ParseTopics(strings.NewReader(c.file), "f", TopicOptions{IDs: c.ids})
		if err != nil || topics[0].ID+" "+topics[1].ID != c.want {
			t.Errorf("%q by %q: %v, %v, want IDs %s", c.file, c.ids, topics, err, c.want)
		}
	}
}

func TestQrelsOfEveryFormat(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		want   map[string]int
		format QrelsFormat
		note   bool
	}{
		"TREC": {file: "# judged by NIST\n1 0 d7 2\n1 0 d8 0\n1 Q0 d9 -1\n",
			want: map[string]int{"d7": 2, "d8": 0, "d9": -1}},
		"BEIR":      {file: "query-id\tcorpus-id\tscore\n1\td7\t2\n1\td8\t0\n", want: map[string]int{"d7": 2, "d8": 0}},
		"no header": {file: "1\td7\t2\n1\td8\t1\n", want: map[string]int{"d7": 2, "d8": 1}, note: true},
		"other way": {file: "docid qid iteration rel\nd7 1 0 2\n", want: map[string]int{"d7": 2}},
		"SMART": {file: "01 7 0 0.000000\r\n  1  008\t0\t0.0\r\n",
			want: map[string]int{"7": 1, "8": 1}, note: true},
		"Cranfield": {file: "1 7 1 \n1 8  -1\n1 9 4\n",
			want: map[string]int{"7": 4, "8": 0, "9": 1}, format: Cranfield},
	} {
		note := ""
		q, err := ParseQrels(strings.NewReader(c.file), name, c.format, func(line string) { note = line })
		if err != nil || len(q) != 1 {
			t.Errorf("%s: %v, %v, want one topic", name, q, err)
			continue
		}
		if c.note != (note != "") {
			t.Errorf("%s: note %q, want one: %v", name, note, c.note)
		}
		for doc, grade := range c.want {
			if g, ok := q["1"][doc]; !ok || g != grade {
				t.Errorf("%s: document %s has grade %d, want %d", name, doc, g, grade)
			}
		}
	}
	for name, file := range map[string]string{
		"empty": "", "short": "1 2\n", "mixed": "1 0 a 1\n1 0 a\n", "grade": "1 0 a x\n",
		"twice": "1 0 a 1\n1 0 a 1\n", "five": "1 0 a 1 x\n",
		"Cranfield's?": "1 2 4\n1 3 -1\n", "ragged": "1 2 4\n1 0 3 1\n",
	} {
		if q, err := ParseQrels(strings.NewReader(file), "f", Auto); err == nil {
			t.Errorf("%s: judgments %v, want an error", name, q)
		} else if !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%s: %v does not name the file", name, err)
		}
	}
	if q, err := ParseQrels(strings.NewReader("1 2 7\n"), "f", Cranfield); err == nil {
		t.Errorf("grade 7 of Cranfield: %v, want an error", q)
	}
	if _, err := ParseQrelsFormat("xml"); err == nil {
		t.Error("format xml: no error")
	}
}

// A run keeps the order in which it was written, also of ties.
func TestRunKeepsTheOrderOfTies(t *testing.T) {
	scores := []float32{2, 1, 1, 1, math.Nextafter32(1, 0), 0.5, 0, 0, 0}
	var b strings.Builder
	w := NewRunWriter(&b, "tag")
	err := w.Topic("7", len(scores), func(i int) (string, float32) { return "d" + strconv.Itoa(i), scores[i] })
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(b.String(), "\n"); first != "7 Q0 d0 1 2 tag" {
		t.Errorf("the first line is %q, want 7 Q0 d0 1 2 tag", first)
	}
	run, err := ParseRun(strings.NewReader(b.String()), "run")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range run.Topics["7"] {
		if r.Doc != "d"+strconv.Itoa(i) {
			t.Errorf("rank %d is %s, want d%d", i, r.Doc, i)
		}
		if math.Abs(r.Score-float64(scores[i])) > 1e-6 {
			t.Errorf("score %v became %v", scores[i], r.Score)
		}
	}
	if w.Topic("7", 1, func(int) (string, float32) { return "two words", 1 }) == nil {
		t.Error("a document ID with a blank: no error")
	}
}

// Fields of topics can be chosen, by TREC's names or those of the newer tracks and of ir_datasets.
func TestTopicFields(t *testing.T) {
	const (
		trec = "<top>\n<num> Number: 1\n<title> Topic: bears\n<desc> Description:\nWhere do\n" +
			"bears live?\n<narr> Narrative:\nNot zoos.\n</top>\n"
		web = `<?xml version="1.0"?><webtrack2012><topic number="1" type="faceted"><query>bears</query>` +
			"\n<description>Where do bears live?</description>\n" +
			`<subtopic number="1" type="inf">Bears &amp; trees</subtopic></topic></webtrack2012>`
		covid = `<topics task="COVIDSearch" batch="5"><topic number="1"><query>bears</query>` +
			"<question>Where do bears live?</question>\n<narrative>Not zoos.</narrative></topic></topics>"
		json  = `{"query_id": "1", "title": "bears", "description": "Where do bears live?", "narrative": "Not zoos."}`
		table = "qid\tquery\tdescription\tnarrative\n1\tbears\tWhere do bears live?\tNot zoos.\n"
	)
	files := map[string]string{"TREC": trec, "web": web, "COVID": covid, "JSON": json, "table": table}
	for name, file := range files {
		for fields, want := range map[string]string{
			"": "bears", "title": "bears", "desc": "Where do bears live?", "narr,query": "Not zoos. bears",
			"title,desc,narr": "bears Where do bears live? Not zoos.",
		} {
			if strings.Contains(fields, "narr") && name == "web" {
				continue
			}
			o := TopicOptions{}
			if fields != "" {
				o.Fields = strings.Split(fields, ",")
			}
			topics, err := ParseTopics(strings.NewReader(file), "f", o)
			if err != nil || len(topics) != 1 || topics[0] != (Topic{"1", want}) {
				t.Errorf("%s, fields %q: %v, %v, want %s", name, fields, topics, err, want)
			}
		}
	}
	var notes []string
	o := TopicOptions{Fields: []string{"title", "narr"}, Note: func(s string) { notes = append(notes, s) }}
	if _, err := ParseTopics(strings.NewReader(web), "f", o); err != nil {
		t.Fatal(err)
	}
	if want := "f: topics lack some of the fields title, narr (1 of 1)"; !slices.Contains(notes, want) {
		t.Errorf("notes %q, want %q among them", notes, want)
	}
	for name, want := range map[string]string{
		"TREC":  "no topic has a <summary>: the fields are title, desc, narr; choose with trec.TopicOptions.Fields",
		"JSON":  "want a field summary, have description, narrative, query_id, title",
		"table": "no column summary: want one of qid, query, description, narrative",
	} {
		_, err := ParseTopics(strings.NewReader(files[name]), "f", TopicOptions{Fields: []string{"summary"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for _, file := range []string{"1:x\n", "1\tx\n", ".I 1\n.W\nx\n"} {
		if _, err := ParseTopics(strings.NewReader(file), "f", TopicOptions{Fields: []string{"desc"}}); err == nil {
			t.Errorf("fields of %q: no error", file)
		}
	}
}

// Ties are in descending order of documents, as in trec_eval.
func TestTiesInForeignRuns(t *testing.T) {
	run, err := ParseRun(strings.NewReader("1 Q0 a 1 0.5 x\n1 Q0 c 2 0.5 x\n1 Q0 b 3 0.5 x junk at the end\n"), "run")
	if err != nil {
		t.Fatal(err)
	}
	if r := run.Topics["1"]; r[0].Doc != "c" || r[1].Doc != "b" || r[2].Doc != "a" {
		t.Errorf("%v: want documents c, b, a", r)
	}
	for name, file := range map[string]string{"empty": "\n", "short": "1 Q0 a 1 0.5\n",
		"score": "1 Q0 a 1 high x\n", "NaN": "1 Q0 a 1 nan x\n",
		"twice": "1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n"} {
		if _, err := ParseRun(strings.NewReader(file), "f"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The topics and judgments of the old collections are read in full.
func TestSharedCollections(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "data", "ir")
	for _, c := range []struct {
		topics, qrels    string
		nTopics, nJudged int
	}{
		{"cranfield/cran.qry", "cranfield/cranqrel", 225, 225},
		{"cacm/query.text", "cacm/qrels.text", 64, 52},
		{"cisi/CISI.QRY", "cisi/CISI.REL", 112, 76},
		{"medline/MED.QRY", "medline/MED.REL", 30, 30},
		{"medline/MED.QRY", "medline/MED.REL.OLD", 30, 30},
		{"adi/ADI.QRY", "adi/ADI.REL", 35, 35},
	} {
		if m, _ := filepath.Glob(filepath.Join(root, c.topics)); m == nil {
			t.Skip("the shared collections are not beside the repository")
		}
		topics, err := ReadTopics(filepath.Join(root, c.topics), TopicOptions{IDs: ByPosition})
		if err != nil || len(topics) != c.nTopics {
			t.Errorf("%s: %d topics, %v, want %d", c.topics, len(topics), err, c.nTopics)
		}
		format := Auto
		if strings.HasPrefix(c.qrels, "cranfield") {
			format = Cranfield
		}
		q, err := ReadQrels(filepath.Join(root, c.qrels), format)
		if err != nil || len(q) != c.nJudged {
			t.Errorf("%s: %d topics judged, %v, want %d", c.qrels, len(q), err, c.nJudged)
		}
		names := map[string]bool{}
		for _, topic := range topics {
			names[topic.ID] = true
		}
		for topic := range q {
			if !names[topic] {
				t.Errorf("%s judges topic %s, which does not exist", c.qrels, topic)
			}
		}
	}
}

// Any bytes give an error or a value, and no panic.
func FuzzParsers(f *testing.F) {
	for _, seed := range []string{"<top>\n<num> 1\n<title> a\n</top>", ".I 1\n.W\nx", "1:a", "1\ta",
		`{"query":"x"}`, "1 0 d 1", "1 2 0 0.0", "1 2 3", "1 Q0 d 1 0.5 tag", "<></>", ".I\n.W\n.I",
		"[{\"id\":1,\n\"query\":\"x\"}]", "1:2:x", "qid\tquery\n1\tx",
		"<topic number=\"1\"><query>x</query></topic>", "query-id\tcorpus-id\tscore\n1\t2\t1",
		"P_nan", "ndcg_cut.5,1e9", "iprec_at_recall_0.5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, fields := range [][]string{nil, {"desc", "title"}} {
			topics, err := ParseTopics(strings.NewReader(s), "f", TopicOptions{Fields: fields})
			if err == nil && len(topics) == 0 {
				t.Error("no topics and no error")
			}
		}
		q, errQ := ParseQrels(strings.NewReader(s), "f", Auto)
		run, errR := ParseRun(strings.NewReader(s), "f")
		if errQ == nil && errR == nil {
			measures, _ := ParseMeasures("all")
			_, _ = Evaluate(q, run, measures, Options{Complete: true})
		}
		if measures, err := ParseMeasures(s); err == nil {
			run := &Run{Topics: map[string][]Result{"1": {{"a", 2}, {"b", 1}}}}
			if _, err := Evaluate(Qrels{"1": {"b": 1}}, run, measures, Options{}); err != nil {
				t.Errorf("measures %q: %v", s, err)
			}
		}
	})
}

// Topics, judgments and runs may be compressed; errors name the file.
func TestFilesMayBeCompressed(t *testing.T) {
	pack := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	topics, err := ReadTopics(pack("topics.gz", "7\tred fox\n"), TopicOptions{})
	if err != nil || len(topics) != 1 || topics[0] != (Topic{"7", "red fox"}) {
		t.Errorf("topics %v, %v, want 7, red fox", topics, err)
	}
	qrels, err := ReadQrels(pack("qrels.gz", "7 0 d 2\n"), Auto)
	if err != nil || qrels["7"]["d"] != 2 {
		t.Errorf("judgments %v, %v, want topic 7, document d, grade 2", qrels, err)
	}
	run, err := ReadRun(pack("run.gz", "7 Q0 d 1 0.5 me\n"))
	if err != nil || run.Tag != "me" || len(run.Topics["7"]) != 1 {
		t.Errorf("run %v, %v, want one answer to topic 7, tag me", run, err)
	}
	for name, read := range map[string]func(path string) error{
		"topics":    func(path string) error { _, err := ReadTopics(path, TopicOptions{}); return err },
		"judgments": func(path string) error { _, err := ReadQrels(path, Auto); return err },
		"run":       func(path string) error { _, err := ReadRun(path); return err },
	} {
		for _, path := range []string{filepath.Join(t.TempDir(), "absent"), t.TempDir(), pack("pdf", "%PDF-1.7")} {
			if err := read(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s from %s: %v, want an error that names the file", name, path, err)
			}
		}
	}
}
