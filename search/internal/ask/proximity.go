package ask

import (
	"strconv"
	"strings"
)

// Proximity adds scores for pairs of adjacent query words that are also close in a document:
// Metzler and Croft's sequential dependence model. It needs positions. The zero value is [SDM].
// If any weight is set, the others are as given: 0 leaves that part out, and Words must be above 0.
type Proximity struct {
	Words     float64 // factor of the score of each word
	Ordered   float64 // factor of the score of a pair as an exact phrase
	Unordered float64 // factor of the score of a pair within Window words, in any order
	Window    int     // number of words in which an unordered pair must be, at least 2; 0 means 8
}

// SDM is the model with its usual weights.
func SDM() *Proximity { return &Proximity{Words: 0.85, Ordered: 0.1, Unordered: 0.05, Window: 8} }

// WithDefaults replaces the zero value, and a Window of 0, by the defaults.
func (p Proximity) WithDefaults() *Proximity {
	if p == (Proximity{}) {
		return SDM()
	}
	if p.Window == 0 {
		p.Window = 8
	}
	return &p
}

// Check returns an error if a weight or the window is out of range.
func (p *Proximity) Check() error {
	for _, w := range []float64{p.Words, p.Ordered, p.Unordered} {
		if !(w >= 0 && w <= 1e6) {
			return Refuse("proximity: weight %v: want 0 to 1,000,000", w)
		}
	}
	if p.Words == 0 {
		return Refuse("proximity: weight 0 of words: want more than 0")
	}
	if p.Window < 2 || p.Window > 1<<20 {
		return Refuse("proximity: a window of %d words: want 2 to %d", p.Window, 1<<20)
	}
	return nil
}

// ParseProximity parses sdm, or sdm:0.85,0.1,0.05 with the weights of words, of ordered pairs and
// of unordered pairs within 8 words.
func ParseProximity(s string) (*Proximity, error) {
	name, rest, weighted := strings.Cut(s, ":")
	if name != "sdm" {
		return nil, Refuse("unknown proximity %q: want sdm", name)
	}
	p := SDM()
	if !weighted {
		return p, nil
	}
	parts := strings.Split(rest, ",")
	if len(parts) != 3 {
		return nil, Refuse("proximity %q: want three weights, such as sdm:0.85,0.1,0.05", s)
	}
	for i, to := range []*float64{&p.Words, &p.Ordered, &p.Unordered} {
		var err error
		if *to, err = strconv.ParseFloat(parts[i], 64); err != nil {
			return nil, Refuse("proximity %q: %q is not a number", s, parts[i])
		}
	}
	return p, p.Check()
}
