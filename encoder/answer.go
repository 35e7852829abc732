package encoder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/collocate/collocate/fields"
)

// remote is a source that answers requests in the format of OpenAI's embeddings.
type remote struct {
	asker
	model string
}

// asker is a server or a command.
type asker interface {
	// ask returns the answer to a request, of at most a number of bytes.
	ask(ctx context.Context, request []byte, most int) ([]byte, error)
	close() error
}

func (r *remote) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	request, err := requestOf(r.model, texts)
	if err != nil {
		return nil, err
	}
	answer, err := r.ask(ctx, request, mostBytes(len(texts)))
	if err != nil {
		return nil, err
	}
	return parseAnswer(answer, len(texts))
}

// mostBytes is the most bytes of an answer with n vectors.
func mostBytes(n int) int { return 1<<16 + n*(fields.MaxDim*32+256) }

// requestOf returns a request in one line.
func requestOf(model string, texts []string) ([]byte, error) {
	return json.Marshal(struct {
		Model  string   `json:"model,omitempty"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}{model, texts, "float"})
}

// parseAnswer reads an answer with n vectors.
func parseAnswer(b []byte, n int) ([][]float32, error) {
	var list []json.RawMessage
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		if err := json.Unmarshal(b, &list); err != nil {
			return nil, fmt.Errorf("the answer is not JSON: %w", err)
		}
	} else {
		var err error
		if list, err = parseData(b, n); err != nil {
			return nil, err
		}
	}
	if len(list) != n {
		return nil, fmt.Errorf("the answer has %d vectors: want %d, one for each text", len(list), n)
	}
	vectors := make([][]float32, n)
	for i, raw := range list {
		v, err := fields.ParseVector(nil, raw)
		switch {
		case err != nil:
			return nil, fmt.Errorf("vector %d of the answer: %w", i+1, err)
		case len(v) == 0:
			return nil, fmt.Errorf("vector %d of the answer is empty", i+1)
		case len(v) != len(vectors[0]) && i > 0:
			return nil, fmt.Errorf("vector %d of the answer has %d numbers, the first %d", i+1, len(v), len(vectors[0]))
		}
		vectors[i] = v
	}
	return vectors, nil
}

// parseData returns the vectors of an answer in OpenAI's format, in the order of the texts.
func parseData(b []byte, n int) ([]json.RawMessage, error) {
	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return nil, fmt.Errorf("the answer is not JSON as of an embeddings endpoint: %w", err)
	}
	if len(answer.Error) > 0 && string(answer.Error) != "null" {
		return nil, fmt.Errorf("it answers with an error: %s", shown(answer.Error))
	}
	if answer.Data == nil {
		return nil, errors.New(`the answer has no "data": want that of an embeddings endpoint, or a list of vectors`)
	}
	if len(answer.Data) != n {
		return nil, fmt.Errorf("the answer has %d vectors: want %d, one for each text", len(answer.Data), n)
	}
	list := make([]json.RawMessage, n)
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || list[at] != nil {
			return nil, fmt.Errorf("the answer has a vector with the index %d out of place: want each of 0 to %d once", at, n-1)
		}
		if len(d.Embedding) == 0 {
			return nil, fmt.Errorf(`vector %d of the answer has no "embedding"`, i+1)
		}
		list[at] = d.Embedding
	}
	return list, nil
}

// shown returns the beginning of what a server or command said.
func shown(b []byte) string {
	const most = 300
	if b = bytes.TrimSpace(b); len(b) > most {
		return string(bytes.ToValidUTF8(b[:most], nil)) + "..."
	}
	return string(bytes.ToValidUTF8(b, nil))
}
