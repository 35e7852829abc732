package weigh

import (
	"bytes"
	"testing"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

// As in the papers, a dictionary of the most frequent words is built before there is a text. It
// lacks words of the text and has words that do not occur. The weights are those of the other
// methods, on cores and on the device, in our form and as published.
func TestDictionaryBuiltBeforehand(t *testing.T) {
	var b bytes.Buffer
	err := datagen.Text(t.Context(), &b, datagen.TextOptions{Tokens: 1500, Seed: 5, Mu: 4, Sigma: 1, LongWords: true})
	if err != nil {
		t.Fatal(err)
	}
	var docs []text.Document
	for _, d := range bytes.Split(b.Bytes(), []byte("\n\n")) {
		docs = append(docs, text.Document{Text: d})
	}
	var frequent []string
	for rank := range int64(300) {
		frequent = append(frequent, datagen.LongWord(rank))
	}
	want := weightsOf(t, weighAll(t, docs, Options{Method: Sequential}, 1), 1)
	known := map[string]bool{}
	for _, w := range frequent {
		known[w] = true
	}
	seen, lacks := map[string]bool{}, 0
	for _, w := range want {
		if !seen[w.word] && !known[w.word] {
			lacks++
		}
		seen[w.word] = true
	}
	if lacks < 100 || len(seen)-lacks < 100 || len(seen)-lacks == len(frequent) {
		t.Fatalf("the dictionary lacks %d of %d words, want some, and words that do not occur", lacks, len(seen))
	}
	device := onGPU(t)
	for _, kind := range []dict.Kind{dict.XBW, dict.XBWPaper} {
		o := Options{Method: Dictionary, Dict: dictionary(t, kind, frequent...), Threads: 2}
		w := weighAll(t, docs, o, 2)
		same(t, weightsOf(t, w, 3), want)
		o.Engine, o.Device = engine.GPU, device
		o.OnePiece, o.MergeSort = kind == dict.XBWPaper, kind == dict.XBWPaper
		w = weighAll(t, docs, o, 3)
		same(t, weightsOf(t, w, 2), want)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
