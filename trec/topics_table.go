package trec

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tableColumns splits a header at tabs, or at commas if it has no tabs.
func tableColumns(header string) (names []string, comma bool) {
	comma = !strings.Contains(header, "\t")
	separator := "\t"
	if comma {
		separator = ","
	}
	for name := range strings.SplitSeq(header, separator) {
		name = strings.ToLower(strings.Trim(strings.TrimSpace(name), `"`))
		names = append(names, strings.ReplaceAll(name, " ", "_"))
	}
	return names, comma
}

// isTopicHeader reports whether a line names columns: one for IDs, one for texts.
func isTopicHeader(line string, wanted []string) bool {
	names, _ := tableColumns(line)
	texts := topicTexts
	for _, field := range wanted {
		texts = append(texts[:len(texts):len(texts)], namesOf(field)...)
	}
	return len(names) > 1 && columnOf(names, topicIDs) >= 0 && columnOf(names, texts) >= 0
}

// columnOf returns the position of the first of the wanted names that is a column, or -1.
func columnOf(names, wanted []string) int {
	for _, w := range wanted {
		if i := slices.Index(names, w); i >= 0 {
			return i
		}
	}
	return -1
}

// table parses a row of a CSV or TSV table with a header.
func (p *topicParser) table(n int, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	c := csv.NewReader(strings.NewReader(line))
	c.FieldsPerRecord = len(p.columns)
	if !p.comma {
		c.Comma, c.LazyQuotes = '\t', true
	}
	fields, err := c.Read()
	if errors.Is(err, csv.ErrFieldCount) {
		return fmt.Errorf("%d columns, want %d as in the header", len(fields), len(p.columns))
	}
	if wrong := new(csv.ParseError); errors.As(err, &wrong) { // its line is that of a single row
		return fmt.Errorf("byte %d: %w", wrong.Column, wrong.Err)
	}
	if err != nil {
		return err
	}
	id := strings.TrimSpace(fields[columnOf(p.columns, topicIDs)])
	if len(p.o.Fields) == 0 {
		return p.add(n, id, fields[columnOf(p.columns, topicTexts)])
	}
	var texts []string
	for _, field := range p.wanted {
		texts = append(texts, fields[columnOf(p.columns, namesOf(field))])
	}
	return p.add(n, id, strings.Join(texts, " "))
}

// tableFields returns an error if a wanted field is not a column of the table.
func (p *topicParser) tableFields() error {
	for _, field := range p.o.Fields {
		if columnOf(p.columns, namesOf(field)) < 0 {
			return fmt.Errorf("no column %s: want one of %s (trec.TopicOptions.Fields)",
				field, strings.Join(p.columns, ", "))
		}
	}
	return nil
}

// separated parses an ID, a tab or else a colon, and the text.
func (p *topicParser) separated(n int, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	id, text, ok := strings.Cut(line, "\t")
	if !ok {
		if id, text, ok = strings.Cut(line, ":"); !ok {
			return fmt.Errorf("%.60q: want ID, tab or colon, and text", line)
		}
		p.colons++
	} else if more := strings.Count(strings.TrimRight(text, "\t"), "\t"); more > 0 {
		return fmt.Errorf("%.60q: %d columns: want ID and text, or a header that names the columns, "+
			"such as id and query", line, more+2)
	} else if len(p.seen)+p.empty == 0 && slices.Contains(topicIDs, strings.ToLower(strings.TrimSpace(id))) {
		return fmt.Errorf("%.60q looks like a header, but no column has one of the names %s", line,
			strings.Join(topicTexts, ", "))
	}
	id = strings.TrimSpace(id)
	if id == "" {
		return fmt.Errorf("%.60q: no ID before the text", line)
	}
	return p.add(n, id, text)
}
