package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/collocate/collocate/search"
)

// ask is a query as a client says it.
type ask struct {
	Q        string `json:"q"`
	K        *int   `json:"k"`
	Mode     string `json:"mode"`
	Model    string `json:"model"`
	Snippets bool   `json:"snippets"`
	Stats    bool   `json:"stats"`
}

// parseURL reads the query of a URL.
func parseURL(raw string) (a ask, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return a, fmt.Errorf("the query of the URL: %w", err)
	}
	for name, said := range values {
		if len(said) > 1 {
			return a, fmt.Errorf("%s is said %d times: want it once", name, len(said))
		}
		switch value := said[0]; name {
		case "q":
			a.Q = value
		case "k":
			k, err := strconv.Atoi(value)
			if err != nil {
				return a, fmt.Errorf("k %q: want a number", value)
			}
			a.K = &k
		case "mode":
			a.Mode = value
		case "model":
			a.Model = value
		case "snippets":
			a.Snippets, err = parseBool(name, value)
		case "stats":
			a.Stats, err = parseBool(name, value)
		default:
			err = fmt.Errorf("unknown name %q: want q, k, mode, model, snippets, stats", name)
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

func parseBool(name, value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s %q: want 1 or 0", name, value)
	}
	return b, nil
}

// parseMany reads the body of a POST.
func parseMany(body []byte) ([]ask, error) {
	var many []ask
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if err := in.Decode(&many); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("body: want an array of objects with q, k, mode, model, snippets, stats: %w", err)
	}
	if many == nil {
		return nil, errors.New("body: want an array, not null")
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("body: want nothing behind the array")
	}
	return many, nil
}

// request is what to search for, and what to tell of it.
func (h *handler) request(a ask) (r search.Request, d Details, err error) {
	if r.Text = a.Q; strings.TrimSpace(a.Q) == "" {
		return r, d, errors.New("q is empty: want words")
	}
	r.K = min(defaultK, h.o.MaxK)
	if a.K != nil {
		if r.K = *a.K; r.K < 1 || r.K > h.o.MaxK {
			return r, d, fmt.Errorf("k %d: want 1 to %d", r.K, h.o.MaxK)
		}
	}
	if a.Mode != "" {
		if r.Mode, err = search.ParseMode(a.Mode); err != nil {
			return r, d, err
		}
	}
	r.Model = h.o.Model
	if a.Model != "" {
		if r.Model, err = search.ParseModel(a.Model); err != nil {
			return r, d, err
		}
	}
	if a.Snippets {
		if !h.s.Index().HasText() {
			return r, d, errors.New("snippets: the index stores no text: build it with 'collocate index --store-text'")
		}
		d.SnippetSize = snippetSize
	}
	d.Stats = a.Stats
	return r, d, nil
}
