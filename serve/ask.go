package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// ask is a query as a client says it, and what that means.
type ask struct {
	Q        string
	K        *int
	Mode     string
	Model    string
	Snippets bool
	Stats    bool

	request search.Request // filled by check
	details Details
}

const askNames = "q, k, mode, model, snippets, stats"

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
			err = fmt.Errorf("unknown name %q: want %s", name, askNames)
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

// parseMany reads and checks the body of a POST: an array of objects.
func (v *Server) parseMany(body []byte) ([]ask, error) {
	in := json.NewDecoder(bytes.NewReader(body))
	many, err := readArray(in, v.o.Limits.Queries)
	if err != nil {
		return nil, fmt.Errorf("body: want an array of objects with %s: %w", askNames, err)
	}
	for i := range many {
		if err := v.check(&many[i]); err != nil {
			return nil, fmt.Errorf("query %d: %w", i+1, err)
		}
	}
	return many, nil
}

func readArray(in *json.Decoder, most int) ([]ask, error) {
	open, err := in.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, err
	case open != json.Delim('['):
		return nil, fmt.Errorf("it begins with %s", describeToken(open))
	}
	many := []ask{}
	for in.More() {
		if len(many) == most {
			return nil, fmt.Errorf("it has more than %d queries", most)
		}
		var a ask
		if err := readObject(in, a.field); err != nil {
			return nil, fmt.Errorf("query %d: %w", len(many)+1, err)
		}
		many = append(many, a)
	}
	if _, err := in.Token(); err != nil {
		return nil, unexpectedEnd(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the array")
	}
	return many, nil
}

// field is where the value of a name goes.
func (a *ask) field(name string) any {
	switch name {
	case "q":
		return &a.Q
	case "k":
		return &a.K
	case "mode":
		return &a.Mode
	case "model":
		return &a.Model
	case "snippets":
		return &a.Snippets
	case "stats":
		return &a.Stats
	}
	return nil
}

// readObject reads an object more strictly than package json does: names must be written as they are
// documented, none may come twice, and null is no value. field says where the value of a name goes.
func readObject(in *json.Decoder, field func(name string) any) error {
	open, err := in.Token()
	if err != nil {
		return unexpectedEnd(err)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("want an object, not %v", describeToken(open))
	}
	var seen []string // few
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return unexpectedEnd(err)
		}
		name := token.(string) // in an object nothing else comes here
		to := field(name)
		switch {
		case to == nil:
			return fmt.Errorf("unknown name %q", name)
		case slices.Contains(seen, name):
			return fmt.Errorf("%s is said twice", name)
		}
		seen = append(seen, name)
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return fmt.Errorf("%s: %w", name, unexpectedEnd(err))
		}
		if string(raw) == "null" {
			return fmt.Errorf("%s is null: leave it out or say it", name)
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return fmt.Errorf("%s: %w", name, plainTypeError(err))
		}
	}
	_, err = in.Token()
	return unexpectedEnd(err)
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func describeToken(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(t)
	}
	return fmt.Sprint(t)
}

// plainTypeError says what was wanted in the words of JSON.
func plainTypeError(err error) error {
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		want := map[string]string{"string": "a string", "bool": "true or false", "int": "a whole number"}[wrong.Type.String()]
		if want != "" {
			return fmt.Errorf("%s: want %s", wrong.Value, want)
		}
	}
	return err
}

// check fills in what is to be searched, and what to tell of it.
func (v *Server) check(a *ask) (err error) {
	r, d := &a.request, &a.details
	if r.Text = a.Q; strings.TrimSpace(a.Q) == "" {
		return errors.New("q is empty: want words")
	}
	if err := v.checkWords(a.Q); err != nil {
		return err
	}
	r.K = min(defaultK, v.o.MaxK)
	if a.K != nil {
		if r.K = *a.K; r.K < 1 || r.K > v.o.MaxK {
			return fmt.Errorf("k %d: want 1 to %d", r.K, v.o.MaxK)
		}
	}
	if a.Mode != "" {
		if r.Mode, err = search.ParseMode(a.Mode); err != nil {
			return err
		}
	}
	r.Model = v.o.Model
	if a.Model != "" {
		if r.Model, err = search.ParseModel(a.Model); err != nil {
			return err
		}
	}
	if a.Snippets {
		if !v.s.Index().HasText() {
			return errors.New("snippets: the index stores no text: build it with 'collocate index --store-text'")
		}
		d.SnippetSize = snippetSize
	}
	d.Stats = a.Stats
	return nil
}

// maxWordSize is more than the words of a query have in the mean, in bytes.
const maxWordSize = 32

// checkWords counts the words of a query, if it is long enough to have too many.
func (v *Server) checkWords(q string) error {
	most := v.o.Limits.Words
	if len(q) <= most {
		return nil
	}
	if bytes := most * maxWordSize; len(q) > bytes { // which need not be counted
		return fmt.Errorf("q has %d bytes: want at most %d words, and %d bytes", len(q), most, bytes)
	}
	var tokens text.Tokens
	if err := v.analyzer.Analyze([]byte(q), &tokens); err != nil {
		return err
	}
	if n := len(tokens.Words); n > most {
		return fmt.Errorf("q has %d words: want at most %d", n, most)
	}
	return nil
}
