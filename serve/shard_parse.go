package serve

import (
	"strconv"
	"strings"

	"github.com/collocate/collocate/api"
)

// parsePlain parses an answer that has only hits, as servers of this version write it. Most answers
// have that form, and encoding/json takes a quarter of a root's time for them. It reports whether
// the text has that form; encoding/json parses all others.
func (a *shardAnswer) parsePlain(text string) bool {
	p := plainParser{rest: strings.TrimSuffix(text, "\n")}
	documents := p.lit(`{"documents":`).whole(63)
	p.lit(`,"hits":[`)
	hits := make([]api.Hit, 0, strings.Count(text, `{"rank":`))
	for !p.wrong && !strings.HasPrefix(p.rest, "]") {
		if len(hits) > 0 {
			p.lit(",")
		}
		var h api.Hit
		h.Rank = int(p.lit(`{"rank":`).whole(63))
		h.ID = p.lit(`,"id":"`).text()
		h.Doc = uint32(p.lit(`","doc":`).whole(32))
		h.Score = p.lit(`,"score":`).float()
		p.lit("}")
		hits = append(hits, h)
	}
	if p.lit("]}"); p.wrong || p.rest != "" {
		return false
	}
	*a = shardAnswer{Documents: int(documents), Hits: hits}
	return true
}

// plainParser parses a text of a known form, up to the first mismatch.
type plainParser struct {
	rest  string
	wrong bool
}

// lit skips a literal.
func (p *plainParser) lit(what string) *plainParser {
	rest, ok := strings.CutPrefix(p.rest, what)
	p.rest, p.wrong = rest, p.wrong || !ok
	return p
}

// upTo returns and skips all characters that known accepts.
func (p *plainParser) upTo(known func(c byte) bool) string {
	n := 0
	for n < len(p.rest) && known(p.rest[n]) {
		n++
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	return text
}

// whole parses a whole number of at most bits bits.
func (p *plainParser) whole(bits int) uint64 {
	text := p.upTo(isDigit)
	n, err := strconv.ParseUint(text, 10, bits)
	if err != nil || len(text) > 1 && text[0] == '0' {
		p.wrong = true
	}
	return n
}

// text parses the characters of a string without escapes.
func (p *plainParser) text() string {
	return p.upTo(func(c byte) bool { return c >= ' ' && c < 0x80 && c != '"' && c != '\\' })
}

// float parses a number in JSON.
func (p *plainParser) float() float32 {
	all := p.rest
	p.rest = strings.TrimPrefix(p.rest, "-")
	if whole := p.upTo(isDigit); whole == "" || len(whole) > 1 && whole[0] == '0' {
		p.wrong = true
	}
	if rest, ok := strings.CutPrefix(p.rest, "."); ok {
		p.rest = rest
		p.wrong = p.wrong || p.upTo(isDigit) == ""
	}
	if rest := strings.TrimLeft(p.rest, "eE"); len(p.rest)-len(rest) == 1 {
		if p.rest = rest; rest != "" && (rest[0] == '-' || rest[0] == '+') {
			p.rest = rest[1:]
		}
		p.wrong = p.wrong || p.upTo(isDigit) == ""
	}
	x, err := strconv.ParseFloat(all[:len(all)-len(p.rest)], 32)
	p.wrong = p.wrong || err != nil
	return float32(x)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
