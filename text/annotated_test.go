package text

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const treebank = `# sent_id = s1
# text = Du vin
1-2	Du	_	_	_	_	_	_	_	_
1	De	de	ADP	_	_	3	case	_	_
2	le	le	DET	_	Number=Sing	3	det	_	_
3	vin	vin	NOUN	_	Number=Sing	0	root	_	_

# sent_id = s2
1	Oui	oui	INTJ	_	_	0	root	_	_
`

const vertical = `<text id="a">
<s>
The	DT	the
cat	NN	cat
sleeps	VBZ	sleep
.	SENT	.
</s>
</text>
`

// An annotated corpus is refused with a way to make plain text of it, unless a format is named.
func TestAnnotatedCorporaAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"de.conllu":      {treebank, "CoNLL-U"},
		"crlf.txt":       {strings.ReplaceAll(treebank, "\n", "\r\n"), "CoNLL-U"},
		"no-comments.xx": {"1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\t_\n", "CoNLL-U"},
		"a.vrt":          {vertical, "VRT"},
		"sketch.vert":    {strings.NewReplacer("<text", "<doc", "/text>", "/doc>").Replace(vertical), "VRT"},
		"words.vrt":      {"<text>\n<s>\nthe\ncat\nsleeps\n</s>\n</text>\n", "VRT"},
		"plain.txt":      {"The cat sleeps.\n", ""},
		"numbers.txt":    {"1\tThe cat\n2\tsleeps\n", ""},
		"tagged.txt":     {"<s> The cat sleeps </s>\n<s> Here </s>\n", ""},
		"comments.txt":   {"# one\n# two\n\n", ""},
		"table.tsv":      {"id\ttext\n1\tThe cat\n", ""},
	} {
		path := write(t, filepath.Join(t.TempDir(), name), []byte(c.text))
		_, err := readAll(&Corpus{Paths: []string{path}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "awk")) {
			t.Errorf("%s: error %v, want one that names %q", name, err, c.want)
		}
		if _, err := readAll(&Corpus{Paths: []string{path}, Options: Options{Format: Lines}}); err != nil {
			t.Errorf("%s as lines: %v", name, err)
		}
	}
}

// The commands that the errors name take every word as it was written, once.
func TestWordsOfAnnotatedCorpora(t *testing.T) {
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip("no awk here")
	}
	for command, c := range map[string]struct{ text, want string }{
		treebankWords: {strings.NewReplacer("= s1", "= weblog-2", "= s2", "= 1-9").Replace(treebank), "Du vin Oui"},
		verticalWords: {vertical, "The cat sleeps ."},
	} {
		program := strings.TrimSuffix(strings.TrimPrefix(command, `awk -F'\t' '`), "'")
		cmd := exec.Command(awk, "-F\t", program)
		cmd.Stdin = strings.NewReader(c.text)
		out, err := cmd.Output()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", command, got, err, c.want)
		}
	}
}

// A guess that changes the documents is said, with the way to say otherwise; a format that is named
// is no guess.
func TestGuessesAreSaid(t *testing.T) {
	page := strings.Repeat("the quick brown fox jumps over the lazy dog and\nthen goes home, where others wait for the fox\n", 4)
	narrow := strings.Repeat("die grünen Bäume über der\nweißen Brücke schlafen bald\n", 4)
	for name, c := range map[string]struct {
		text, want string
		plain      Format
	}{
		"page.txt":       {page, "middle of sentences", Auto},
		"narrow.txt":     {narrow, "middle of sentences", Auto},
		"glove.txt":      {page, "", Lines},
		"blank.txt":      {"a b\n\nc d\n", "blank lines", Auto},
		"lines.txt":      {"a b\n\nc d\n", "", Lines},
		"numbers.txt":    {"1\tThe cat\n2\tsleeps\n", "read as IDs", Auto},
		"numbers.tsv":    {"1\tThe cat\n2\tsleeps\n", "", Auto},
		"treetagger.txt": {strings.Repeat("The\tDT\tthe\ncat\tNN\tcat\n", 5), "cut -f1 keeps the words, to be read with text.Options.Format=file", Auto},
		"sentences.tt":   {strings.Repeat("The\tDT\ncat\tNN\n\n", 5), "cut -f1 keeps the words, to be read with text.Options.Format=blank", Auto},
		"conll2003.txt":  {strings.Repeat("Rome NNP B-NP B-LOC\nis VBZ B-VP O\n\n", 5), "cut -d' ' -f1", Auto},
		"as-words.txt":   {strings.Repeat("The\tDT\ncat\tNN\n", 5), "all columns count as words", Lines},
		"tabs.txt":       {strings.Repeat("The cat\tsleeps\nThe\tdog\n", 5), "", Auto},
		"tei.xml":        {"<?xml version=\"1.0\"?>\n<TEI>a</TEI>\n", "XML", Auto},
		"page.html":      {"<!DOCTYPE html>\n<html>a</html>\n", "HTML", Lines},
		"sentences.txt":  {"A cat sleeps.\nThe dog, which had been barking all night long, is tired.\nIt rains.\nWe go.\nYes.\nNo.\n", "", Auto},
		"tokenized.txt":  {"cats sleep\nthe dog which had been barking all night long is tired\nit rains\nwe go home today\nyes\nno way\n", "", Auto},
	} {
		path := write(t, filepath.Join(t.TempDir(), name), []byte(c.text))
		var guesses []string
		o := Options{Plain: c.plain, Guess: func(line string) { guesses = append(guesses, line) }}
		docs, err := readAll(&Corpus{Paths: []string{path}, Options: o})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(guesses, "; "); !strings.Contains(said, c.want) || (c.want == "") != (said == "") {
			t.Errorf("%s: said %q, want %q", name, said, c.want)
		}
		if c.plain == Lines && len(docs) != strings.Count(c.text, "\n") {
			t.Errorf("%s: %d documents, want one a line", name, len(docs))
		}
	}
}
