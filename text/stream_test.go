package text

import (
	"context"
	"io"
	"strings"
	"testing"
)

// Streams are read in order. The numbers of documents without an ID start after the given one.
func TestStreams(t *testing.T) {
	open := func(s string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
	}
	c := &Corpus{Options: Options{Format: Lines, Threads: 2}, Streams: []Stream{
		{"a.txt", 7, open("one\ntwo\n")}, {"b.txt", 0, open("three")},
	}}
	var got []string
	for d, err := range c.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.ID+"="+string(d.Text))
	}
	if s := strings.Join(got, " "); s != "a.txt:8=one a.txt:9=two b.txt:1=three" {
		t.Errorf("documents %s, want a.txt:8=one a.txt:9=two b.txt:1=three", s)
	}
	// A long stream is divided into tasks, whose documents are numbered before they are parsed.
	c.Streams = []Stream{{"c.txt", 2_000_000, open(strings.Repeat("x y\n", 1<<20))}}
	last := make([]string, 2)
	err := c.Batches(context.Background(), func(worker int, b *Batch) error {
		last[worker] = max(last[worker], b.Docs[len(b.Docs)-1].ID)
		return nil
	})
	if id := max(last[0], last[1]); err != nil || id != "c.txt:3048576" {
		t.Errorf("the last document is %s, %v; want c.txt:3048576", id, err)
	}
}

// A part of a file without records says nothing about their fields: a record that begins before the
// part is none of its own.
func TestStreamsWithoutRecords(t *testing.T) {
	open := func(s string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
	}
	for _, records := range []string{"", `{"title":"moon"}` + "\n"} {
		c := &Corpus{Options: Options{Format: JSONL, Fields: []string{"title"}, Threads: 1},
			Streams: []Stream{{"a.jsonl", 5, open("")}, {"b.jsonl", 7, open(records)}}}
		got := 0
		for _, err := range c.All(context.Background()) {
			if err != nil {
				t.Fatalf("records %q: %v", records, err)
			}
			got++
		}
		if want := strings.Count(records, "\n"); got != want {
			t.Errorf("%d documents, want %d", got, want)
		}
	}
}
