package text

import "strings"

// Step is what one step of an analyzer makes of a text.
type Step struct {
	Step  string      `json:"step"`  // the step, as it is declared
	Words []StepToken `json:"words"` // in the order of the text
}

// StepToken is a word after a step.
type StepToken struct {
	Word     string `json:"word"`     // as the step leaves it
	Start    uint32 `json:"start"`    // offset of its first byte in the text
	End      uint32 `json:"end"`      // offset behind its last byte
	Position uint32 `json:"position"` // place among the words, from 0, by which phrases match
}

// Steps returns the words of a text after each step of an analyzer. An analyzer that is no chain is
// one step. Synonyms of queries are a step that lists, at the position of each word or phrase that
// has any, what is searched for as well.
func Steps(a Analyzer, doc []byte) (list []Step, err error) {
	c, ok := a.(*chain)
	if !ok {
		c = &chain{first: a}
	}
	t := Tokens{WantSource: true}
	for n := range len(c.steps) + 1 {
		part := *c
		part.steps = c.steps[:n]
		if err := part.Analyze(doc, &t); err != nil {
			return nil, err
		}
		name := c.first.Name()
		if n > 0 {
			name = c.steps[n-1].text
		}
		list = append(list, Step{Step: name, Words: t.list()})
	}
	if c.synonyms == nil || c.query != nil { // a chain of documents
		return list, nil
	}
	words := list[len(list)-1].Words
	said, err := Said(c, c.synonyms, string(doc))
	if err != nil {
		return nil, err
	}
	last := Step{Step: "synonyms", Words: []StepToken{}}
	for _, p := range said {
		place := uint32(0)
		for _, w := range words {
			if w.Start >= p.Source.Start && w.End <= p.Source.End {
				if len(p.Or) == 0 {
					last.Words = append(last.Words, w)
				} else {
					place = w.Position
					break
				}
			}
		}
		for _, other := range p.Or {
			last.Words = append(last.Words, StepToken{other, p.Source.Start, p.Source.End, place})
		}
	}
	return append(list, last), nil
}

func (t *Tokens) list() []StepToken {
	out := make([]StepToken, len(t.Words))
	for i := range out {
		out[i] = StepToken{strings.ToValidUTF8(string(t.Word(i)), "\ufffd"), t.Source[i].Start,
			t.Source[i].End, t.place(i)}
	}
	return out
}
