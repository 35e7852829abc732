package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The examples in the help of related verbs run as they are written, one verb after the other: a
// file that one of them reads is given here or was written by an earlier one.
func TestExamplesRunAsWritten(t *testing.T) {
	const news = `{"id":"1","title":"A solar eclipse","text":"The moon covers the sun.","url":"u1","lang":"en","published":"2026-08-12"}
{"id":"2","title":"Lunar","text":"A lunar eclipse came, not a solar eclipse.","url":"u2","lang":"en","published":"2026-03-03"}
`
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	must(os.Mkdir("mail", 0o755))
	for name, content := range map[string]string{
		"news.jsonl.zst": string(encoder.EncodeAll([]byte(news), nil)),
		"mail/1.txt":     "See the eclipse!",
		"topics.txt":     "1\tsolar eclipse\n2\tmoon\n",
		"synonyms.txt":   "car, auto\n",
		"corpus.txt":     strings.Repeat("the cat and the dog saw a white whale\n", 6),
		"papers.jsonl":   `{"id":"a.1","text":"a lipid membrane"}` + "\n" + `{"id":"b.1","text":"membranes fuse"}` + "\n",
	} {
		must(os.WriteFile(name, []byte(content), 0o644))
	}
	root := newRoot(newApp(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}))
	for _, name := range []string{"index", "search", "cooccur", "neighbours"} {
		verb, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(verb.Example) {
			line = strings.TrimSpace(line)
			if strings.Contains(line, "--engine gpu") || strings.Contains(line, "http://") {
				continue // these need a GPU or a server
			}
			if out, err := runExample(t, line); err != nil || len(out) == 0 {
				t.Errorf("%s\n%v: printed %q", line, err, out)
			}
		}
	}
}

// runExample runs a line as a shell would and returns what it printed.
func runExample(t *testing.T, line string) (string, error) {
	t.Helper()
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	if args[0] != "collocate" {
		return "", fmt.Errorf("want collocate, not %s", args[0])
	}
	var out bytes.Buffer
	cmd := newRoot(newApp(strings.NewReader(""), &out, &out), args[1:]...)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}
