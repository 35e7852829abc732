package api

import (
	"context"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
)

// Counting says which words form a vocabulary.
type Counting struct {
	MinCount uint64        `ask:"min_count" default:"1" help:"leave out words that occur less often"`
	MaxSize  int           `ask:"max_size" range:"0.." help:"keep at most this many words, the most frequent; 0 means all"`
	Ties     cooccur.Order `ask:"ties" default:"glove" not:"python: it keeps GloVe's order" help:"order of words with equal counts: glove (signed bytes) or bytes"`
	KeepUnk  bool          `ask:"keep_unk" not:"python: it is always accepted" help:"accept the word <unk> in the corpus, which GloVe does not"`
}

// CountingQuestion declares the parameters of Counting.
var CountingQuestion = part[Counting]("counting", "which words form a vocabulary")

// Options returns the options of the library.
func (q *Counting) Options(e *Env) cooccur.VocabularyOptions {
	return cooccur.VocabularyOptions{MinCount: q.MinCount, MaxSize: q.MaxSize, Order: q.Ties,
		KeepUnk: q.KeepUnk || e.Door == Python, Analyzer: e.Analyzer, Engine: e.Engine, Device: e.Device, Also: e.Also,
		Threads: e.Threads, Memory: e.Memory}
}

// Vocabulary asks for the words of a corpus with their counts, in the order of GloVe.
type Vocabulary struct {
	Counting
	Reading
}

// VocabularyQuestion declares the parameters of Vocabulary.
var VocabularyQuestion = about(OfText, declare[Vocabulary]("vocabulary", "count the words of a corpus",
	"http root mcp page: wordlist lists the words of an index").in("command: vocab").
	at("analyzer", "command: default=whitespace, as GloVe's vocab_count"),
	func(q *Vocabulary, ctx context.Context, e *Env) (*VocabularyAnswer, error) {
		a, err := q.Do(ctx, e)
		if err == nil {
			a.Fill()
		}
		return a, err
	})

// VocabularyAnswer is the answer to Vocabulary.
type VocabularyAnswer struct {
	Engine engine.Kind `json:"engine"` // what counted the words
	cooccur.VocabularyStats
	Vocabulary []WordCount `json:"vocabulary,omitzero"` // see Fill

	List *cooccur.Vocabulary `json:"-"` // what the library returned
}

// WordCount is a word of a vocabulary.
type WordCount struct {
	Word  string `json:"word"`  // the word
	Count uint64 `json:"count"` // how often it occurs
}

// Fill sets the list of words, which a door that writes a file does not need.
func (a *VocabularyAnswer) Fill() {
	a.Vocabulary = make([]WordCount, a.List.Len())
	for id := range a.Vocabulary {
		a.Vocabulary[id] = WordCount{string(a.List.Word(id)), a.List.Count(id)}
	}
}

// Do counts the words.
func (q *Vocabulary) Do(ctx context.Context, e *Env) (*VocabularyAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	corpus, err := e.documents(ctx, nil)
	if err != nil {
		return nil, err
	}
	v, stats, err := cooccur.CountWords(ctx, corpus, q.Options(e))
	if err != nil {
		return nil, err
	}
	return &VocabularyAnswer{Engine: stats.Engine, VocabularyStats: stats, List: v}, nil
}
