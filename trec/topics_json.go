package trec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// json parses a line of JSON if it is one object. Objects over several lines, and lists of objects,
// are collected for jsonFile.
func (p *topicParser) json(n int, line string) error {
	if p.longJSON.Len() > 0 {
		p.longJSON.WriteString(line)
		p.longJSON.WriteByte('\n')
		return nil
	}
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if !json.Valid([]byte(line)) || strings.TrimSpace(line)[0] == '[' {
		if len(p.topics) == 0 {
			p.jsonLine = n
			p.longJSON.WriteString(line + "\n")
			return nil
		}
	}
	_, err := p.jsonValues(line, func(int) int { return n })
	return err
}

// jsonFile parses a whole file of JSON. It returns the number of lines before an error.
func (p *topicParser) jsonFile(text string) (lines int, err error) {
	at, err := p.jsonValues(text, func(at int) int { return p.jsonLine + strings.Count(text[:at], "\n") })
	return strings.Count(text[:at], "\n"), err
}

// jsonValues adds the topics of a JSON text; line returns the line number of a byte of the text.
func (p *topicParser) jsonValues(text string, line func(at int) int) (at int, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for d.More() {
		at = int(d.InputOffset())
		var v any
		if err := d.Decode(&v); err != nil {
			if e, ok := errors.AsType[*json.SyntaxError](err); ok {
				at = min(int(e.Offset), len(text))
			}
			return at, fmt.Errorf("want JSON objects: %w", err)
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, v := range list {
			fields, ok := v.(map[string]any)
			if !ok {
				return at, errors.New("want JSON objects")
			}
			if err := p.jsonTopic(line(at), fields); err != nil {
				return at, err
			}
		}
	}
	return at, nil
}

// The usual names of the fields of IDs and texts, in order of preference.
var (
	topicIDs = []string{"id", "_id", "qid", "query_id", "query-id", "queryid", "topic_id",
		"topic-id", "number", "num", "topic"}
	topicTexts = []string{"query", "text", "title", "question", "query_text", "vector", "toks",
		"query_toks"}
)

// weighted are the fields of weighted tokens, in order of preference.
var weighted = []string{"query_toks", "toks", "vector"}

// texts returns the names of the fields that may hold the text.
func (p *topicParser) texts() []string {
	if p.o.Weights {
		return append(slices.Clone(weighted), topicTexts[:len(topicTexts)-len(weighted)]...)
	}
	return topicTexts
}

// checkWeights returns an error if a field of weighted tokens has something else.
func (p *topicParser) checkWeights(fields map[string]any) error {
	for _, name := range weighted {
		switch v := fields[name].(type) {
		case map[string]any:
			if _, ok := weightsOf(v); !ok {
				return fmt.Errorf("%s: a weight is not a number: want an object of tokens and numbers", name)
			}
		case nil, string:
		default:
			return fmt.Errorf("%s: want an object of tokens and numbers", name)
		}
	}
	return nil
}

// weightsOf returns an object of tokens and weights as text, for indexes of weighted tokens.
func weightsOf(object map[string]any) (text string, ok bool) {
	for _, weight := range object {
		if _, ok := weight.(json.Number); !ok {
			return "", false
		}
	}
	if len(object) == 0 {
		return "", true
	}
	b, err := json.Marshal(object)
	return string(b), err == nil
}

func (p *topicParser) jsonTopic(n int, fields map[string]any) error {
	pick := func(names []string) (value string, there bool) {
		for _, name := range names {
			switch v := fields[name].(type) {
			case string:
				return v, true
			case json.Number:
				return v.String(), true
			case map[string]any:
				if weights, ok := weightsOf(v); ok && (weights != "" || p.o.Weights) {
					return weights, true
				}
			}
		}
		return "", false
	}
	if p.o.Weights && len(p.o.Fields) == 0 {
		if err := p.checkWeights(fields); err != nil {
			return err
		}
	}
	text, ok := pick(p.texts())
	if len(p.o.Fields) > 0 {
		var texts []string
		for _, field := range p.wanted {
			if part, there := pick(namesOf(field)); there {
				texts = append(texts, part)
			}
		}
		if ok = len(texts) > 0; ok && len(texts) < len(p.wanted) {
			p.partial++
		}
		text = strings.Join(texts, " ")
	}
	if !ok && len(p.o.Fields) > 0 {
		return fmt.Errorf("no text: want a field %s, have %s; choose with trec.TopicOptions.Fields",
			strings.Join(p.wanted, " or "), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	if !ok {
		return fmt.Errorf("no text: want one of the fields %s, have %s",
			strings.Join(p.texts(), ", "), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	id, ok := pick(topicIDs)
	if !ok {
		id = strconv.Itoa(len(p.topics) + p.empty + 1)
		p.numbered++
	}
	p.choose(slices.Collect(maps.Keys(fields)))
	return p.add(n, id, text)
}

// choose records, once, from which of several possible fields or columns IDs and texts are taken.
func (p *topicParser) choose(names []string) {
	pick := func(choice *string, what string, wanted []string) {
		if *choice != "" {
			return
		}
		var there []string
		for _, w := range wanted {
			if slices.Contains(names, w) {
				there = append(there, w)
			}
		}
		if len(there) > 1 {
			*choice = fmt.Sprintf("%s are taken from %s, not from %s", what, there[0], strings.Join(there[1:], ", "))
		}
	}
	pick(&p.idChoice, "the topics' IDs", topicIDs)
	if len(p.o.Fields) == 0 {
		pick(&p.textChoice, "queries", p.texts())
	}
}
