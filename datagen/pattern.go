package datagen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Patterns returns n patterns that share no features: the first has the features 0, 1 and so on,
// and the next continues from there. Their sizes cycle from minSize to maxSize.
func Patterns(n, minSize, maxSize int, prevalence float64) []Pattern {
	var pats []Pattern
	next, size := 0, minSize
	for range n {
		var p Pattern
		for range size {
			p.Features = append(p.Features, next)
			next++
		}
		p.Prevalence = prevalence
		pats = append(pats, p)
		if size++; size > maxSize {
			size = minSize
		}
	}
	return pats
}

// ParsePattern parses a pattern such as "A+B+C=0.6": the names of features and a prevalence.
func ParsePattern(s string) (Pattern, error) {
	names, share, _ := strings.Cut(s, "=")
	var p Pattern
	var err error
	if p.Prevalence, err = strconv.ParseFloat(share, 64); err != nil {
		return p, fmt.Errorf("pattern %q: want features and a prevalence, such as A+B+C=0.6", s)
	}
	for name := range strings.SplitSeq(names, "+") {
		f, ok := featureNumber(name)
		if !ok {
			return p, fmt.Errorf("pattern %q: feature %q: want A to Z, AA, AB and so on", s, name)
		}
		p.Features = append(p.Features, f)
	}
	return p, nil
}

// String writes the pattern as ParsePattern reads it.
func (p Pattern) String() string {
	var names []string
	for _, f := range p.Features {
		names = append(names, featureName(f))
	}
	return strings.Join(names, "+") + "=" + strconv.FormatFloat(p.Prevalence, 'g', -1, 64)
}

// featureName returns the name of a feature, numbered from 0: A to Z, AA, AB, ...
func featureName(f int) string {
	var name []byte
	for f++; f > 0; f = (f - 1) / 26 {
		name = append(name, 'A'+byte((f-1)%26))
	}
	slices.Reverse(name)
	return string(name)
}

// featureNumber is the inverse of featureName, for names of up to six letters.
func featureNumber(name string) (f int, ok bool) {
	for _, c := range name {
		if c < 'A' || c > 'Z' {
			return 0, false
		}
		f = f*26 + int(c-'A') + 1
	}
	return f - 1, name != "" && len(name) <= 6
}
