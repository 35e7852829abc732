package serve

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/api"
)

// params parses the query of a URL. Each name may come once. It keeps the first error.
type params struct {
	values url.Values
	known  []string // in room, while that suffices
	room   [20]string
	err    error
}

func (x *exchange) params() *params {
	p := &params{}
	p.known = p.room[:0]
	if p.values, p.err = url.ParseQuery(x.r.URL.RawQuery); p.err != nil {
		p.err = fmt.Errorf("the query of the URL: %w", p.err)
	}
	return p
}

// wrong keeps an error about the value of a name.
func (p *params) wrong(name, value, format string, args ...any) {
	if p.err == nil {
		p.err = &api.Error{Param: name, Said: value, Err: fmt.Errorf(format, args...)}
	}
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *params) get(name string) (value string, said bool) {
	if !slices.Contains(p.known, name) {
		p.known = append(p.known, name)
	}
	values := p.values[name]
	if len(values) > 1 {
		p.wrong(name, "", "it is given %d times: want it once", len(values))
	}
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// list returns all values of a name that may come several times.
func (p *params) list(name string) []string {
	p.known = append(p.known, name)
	return p.values[name]
}

func (p *params) text(name string) string {
	value, _ := p.get(name)
	return value
}

func (p *params) whole(name string, unless, low, high int) int {
	value, said := p.get(name)
	if !said {
		return unless
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		p.wrong(name, strconv.Quote(value), "want a number")
	} else if n < low || n > high {
		p.wrong(name, value, "want %d to %d", low, high)
	}
	return n
}

func (p *params) number(name string, unless, low, high float64) float64 {
	value, said := p.get(name)
	if !said {
		return unless
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(n) {
		p.wrong(name, strconv.Quote(value), "want a number")
	} else if n < low || n > high {
		p.wrong(name, value, "want %v to %v", low, high)
	}
	return n
}

func (p *params) flag(name string) bool {
	value, said := p.get(name)
	if !said {
		return false
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		p.wrong(name, strconv.Quote(value), "want 1 or 0")
	}
	return b
}

// done returns the first error: a wrong value, or an unknown name.
func (p *params) done() error {
	if p.err != nil {
		return p.err
	}
	for name := range p.values {
		if !slices.Contains(p.known, name) {
			return &api.Unknown{Name: name, Known: strings.Join(p.known, ", ")}
		}
	}
	return nil
}
