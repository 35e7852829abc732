package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

// encoderKey is the environment variable with the key for an encoder's server.
const encoderKey = "COLLOCATE_ENCODER_KEY"

// encoderFlags name what makes vectors of texts.
type encoderFlags struct {
	target string
	o      encoder.Options
	set    func(name string) bool
}

// register adds the flags to a verb, for queries or for documents.
func (f *encoderFlags) register(cmd *cobra.Command, of string, prefix *string) {
	fl := cmd.Flags()
	f.set = fl.Changed
	fl.StringVar(&f.target, "encoder", "", "`URL` of a server in the format of OpenAI's embeddings, or a command, that makes vectors of "+of+" (key: "+encoderKey+")")
	fl.StringVar(&f.o.Model, "encoder-model", "", "model that the encoder is asked for")
	fl.StringVar(prefix, "encoder-prefix", "", "text that the model wants before each of "+of+", such as 'query: '")
	group(cmd, "Vectors", "encoder", "encoder-model", "encoder-prefix")
}

// open returns the encoder, or nil if none is named. More flags need one, too.
func (f *encoderFlags) open(more ...string) (*encoder.Encoder, error) {
	if f.target == "" {
		for _, name := range append(more, "encoder-model", "encoder-prefix") {
			if f.set(name) {
				return nil, usagef("--%s needs --encoder", name)
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

// encode has the vector of a query made, if it is asked for, and returns the words that are left.
// Topics follow in encodeTopics.
func (f *searchFlags) encode(ctx context.Context, words string) (_ string, err error) {
	if f.coder, err = f.encoder.open(); err != nil {
		return words, err
	}
	switch asked := f.ask.Encodes(); {
	case !asked && f.coder != nil:
		return words, usagef("--encoder needs --encode also, or --encode only")
	case !asked:
		return words, nil
	case f.coder == nil:
		return words, usagef("--encode %s needs --encoder", f.ask.Encode)
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
func (f *searchFlags) encodeTopics(ctx context.Context, s *search.Searcher, r search.Request,
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
	for i := range asked {
		topics[i].Text = asked[i].Query
		for _, x := range asked[i].Vector {
			f.vectors[i] = append(f.vectors[i], float32(x))
		}
		if len(asked[i].Vector) > 0 {
			f.ask.Vector = asked[i].Vector
		}
	}
	with, _, err := f.ask.Prepare(api.AboutIndex(s))
	with.Parallel, with.Trace = r.Parallel, r.Trace
	return with, asFlags(api.SearchQuestion, err)
}
