package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
	"github.com/collocate/collocate/vectors"
)

// encoderKey is the environment variable with the key for an encoder's server.
const encoderKey = "COLLOCATE_ENCODER_KEY"

// rerankerKey is the environment variable with the key for a reranker's server.
const rerankerKey = "COLLOCATE_RERANKER_KEY"

// rerankerFlags name what scores texts for a query.
type rerankerFlags struct {
	target string
	o      encoder.Options
}

func (f *rerankerFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.target, "reranker", "", "`URL` of a server that scores texts for a query, or a command, for --rerank (key: "+rerankerKey+")")
	fl.StringVar(&f.o.Model, "reranker-model", "", "model that the reranker is asked for")
	group(cmd, "Ranking", "reranker", "reranker-model")
}

// open returns the reranker, or nil if none is named.
func (f *rerankerFlags) open() (*encoder.Reranker, error) {
	switch {
	case f.target == "" && f.o.Model != "":
		return nil, usagef("--reranker-model needs --reranker")
	case f.target == "":
		return nil, nil
	}
	f.o.Key = os.Getenv(rerankerKey)
	r, err := encoder.OpenReranker(f.target, f.o)
	if err != nil {
		return nil, usageError{err}
	}
	return r, nil
}

// encoderFlags name what makes vectors of texts.
type encoderFlags struct {
	target string
	words  string // --embed
	dim    int    // of vectors that --embed makes
	o      encoder.Options
	set    func(name string) bool
}

// register adds the flags to a verb, for queries or for documents.
func (f *encoderFlags) register(cmd *cobra.Command, of string, prefix *string) {
	fl := cmd.Flags()
	f.set = fl.Changed
	fl.StringVar(&f.target, "encoder", "", "`URL` of a server in the format of OpenAI's embeddings, or a command, that makes vectors of "+of+" (key: "+encoderKey+")")
	fl.StringVar(&f.o.Model, "encoder-model", "", "model that the encoder is asked for")
	fl.StringVar(&f.words, "embed", "", "make vectors of "+of+" here, from those of their words in a `FILE` of 'collocate embed --texts'")
	fl.StringVar(prefix, "encoder-prefix", "", "text that the model wants before each of the "+of+", such as 'query: '")
	group(cmd, "Vectors", "encoder", "encoder-model", "encoder-prefix", "embed")
}

// open returns the encoder, or nil if none is named. More flags need one, too.
func (f *encoderFlags) open(more ...string) (*encoder.Encoder, error) {
	switch {
	case f.target != "" && f.words != "":
		return nil, usagef("--encoder and --embed: give only one of them")
	case f.target == "":
		for _, name := range []string{"encoder-model", "encoder-prefix", "encoder-document-prefix"} {
			if f.set(name) {
				return nil, usagef("--%s needs --encoder", name)
			}
		}
	}
	switch {
	case f.words != "":
		return f.embedding()
	case f.target == "":
		for _, name := range more {
			if f.set(name) {
				return nil, usagef("--%s needs --encoder or --embed", name)
			}
		}
		return nil, nil
	}
	o := f.o
	o.Key = os.Getenv(encoderKey)
	e, err := encoder.Open(f.target, o)
	if err != nil {
		return nil, usageError{err}
	}
	return e, nil
}

// embedding returns an encoder that adds up vectors of words. The file stays open.
func (f *encoderFlags) embedding() (*encoder.Encoder, error) {
	path := f.words
	v, err := vectors.Open(path)
	if err != nil {
		return nil, wanting(err, "a file that 'collocate embed --texts' wrote")
	}
	f.dim = v.Dim
	of, err := v.Texts()
	if errors.Is(err, vectors.ErrTexts) {
		err = errors.New("these vectors are of words alone: make them with " +
			"'collocate embed --texts'")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, v.Close()))
	}
	return encoder.New(path, func(ctx context.Context, texts []string) ([][]float32, error) {
		list := make([][]float32, len(texts))
		for i, s := range texts {
			list[i] = of(s)
		}
		return list, ctx.Err()
	}, encoder.Options{AtOnce: runtime.NumCPU()})
}

// dimensions returns the number of dimensions of an encoder's vectors, which it is asked for.
func (f *encoderFlags) dimensions(ctx context.Context, e *encoder.Encoder) (int, error) {
	if f.dim > 0 {
		return f.dim, nil
	}
	list, err := e.Documents(ctx, []string{"dimensions"})
	if err != nil {
		return 0, err
	}
	return len(list[0]), nil
}

// encode has the vector of a query made, if it is asked for, and returns the words that are left.
// Topics follow in encodeTopics.
func (f *searchFlags) encode(ctx context.Context, words string) (_ string, err error) {
	if f.coder, err = f.encoder.open(); err != nil {
		return words, err
	}
	switch asked := f.ask.Encodes(); {
	case !asked && f.coder != nil:
		name := "encoder"
		if f.encoder.words != "" {
			name = "embed"
		}
		return words, usagef("--%s needs --encode also, or --encode only", name)
	case !asked:
		return words, nil
	case f.coder == nil:
		return words, usagef("--encode %s needs --encoder or --embed", f.ask.Encode)
	case f.vectorOf != "":
		return words, usagef("--encode %s and --vector-of: give only one of them", f.ask.Encode)
	case f.topics != "":
		f.encodeTopic, f.ask.Encode = f.ask.Encode, ""
		return words, nil
	case words == "":
		return words, usagef("--encode %s needs a query or --topics", f.ask.Encode)
	}
	f.ask.Query = words
	err = api.Encode(ctx, f.coder, &f.ask)
	return f.ask.Query, asFlags(api.SearchQuestion, err)
}

// encodeTopics has the vectors of topics made. It returns the request that all begin with.
func (f *searchFlags) encodeTopics(ctx context.Context, a *app, s *search.Searcher, r search.Request,
	topics []trec.Topic) (search.Request, error) {
	if f.encodeTopic == "" {
		return r, nil
	}
	asked := make([]api.Search, len(topics))
	var all []*api.Search
	for i := range topics {
		asked[i].Query, asked[i].Encode = topics[i].Text, f.encodeTopic
		if strings.TrimSpace(topics[i].Text) != "" {
			all = append(all, &asked[i])
		}
	}
	if err := api.Encode(ctx, f.coder, all...); err != nil {
		return r, asFlags(api.SearchQuestion, err)
	}
	f.vectors = make([][]float32, len(topics))
	var without []string
	for i := range asked {
		if asked[i].Encodes() && strings.TrimSpace(topics[i].Text) != "" {
			without = append(without, topics[i].ID)
			if f.encodeTopic == "only" {
				topics[i].Text = ""
			}
			continue
		}
		topics[i].Text = asked[i].Query
		for _, x := range asked[i].Vector {
			f.vectors[i] = append(f.vectors[i], float32(x))
		}
		if len(asked[i].Vector) > 0 {
			f.ask.Meaning.TakeVector(&asked[i].Meaning)
		}
	}
	if len(without) > 0 {
		a.note(fmt.Sprintf("%s without a vector, since the encoder knows none of their words: %s",
			counted(len(without), "topic"), strings.Join(without[:min(len(without), 10)], " ")))
	}
	with, _, err := f.ask.Prepare(api.AboutIndex(s))
	with.Parallel, with.Trace = r.Parallel, r.Trace
	return with, asFlags(api.SearchQuestion, err)
}
