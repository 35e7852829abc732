package trec

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// Topic is a query with its name.
type Topic struct{ ID, Text string }

// TopicOptions say how to read topics. The zero value is useful.
type TopicOptions struct {
	// Encoding is that of the file. With text.UTF8, a line that is not UTF-8 is an error.
	Encoding text.Encoding
	// IDs says how the topics of SMART collections are named.
	IDs TopicIDs
	// Fields are those whose texts, one behind the other, are the query; none means title. They are
	// title (or query), desc (description, question), narr (narrative), or others by their names,
	// and belong to topics with tags, JSON and tables.
	Fields []string
	// Note is told, in a line each, what was guessed and left out; nil: nobody is.
	Note func(line string)
}

// TopicIDs says what the topics of a SMART file are named by.
type TopicIDs string

// The judgments of SMART collections count topics by position. In Cranfield that is not the number
// behind .I, and in a file with some of the topics it is not the topic's. Where the two differ,
// GuessIDs is an error; names that are no numbers stay.
const (
	GuessIDs   TopicIDs = ""
	ByPosition TopicIDs = "position"
	ByNumber   TopicIDs = "number"
)

// ParseTopicIDs returns what that name says: auto, position or number.
func ParseTopicIDs(s string) (TopicIDs, error) {
	switch s {
	case "", "auto":
		return GuessIDs, nil
	case "position", "number":
		return TopicIDs(s), nil
	}
	return "", fmt.Errorf("unknown names of topics %q: want auto, position or number", s)
}

// ReadTopics reads a file of topics in any of the formats of the package comment. Topics without
// text are left out; two topics of one name are an error, as is a name with blanks, which no run
// can hold.
func ReadTopics(path string, o TopicOptions) ([]Topic, error) {
	open := textfile.Open
	if o.Encoding.Converts() {
		open = textfile.OpenBytes
	}
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("reading topics: %w", err)
	}
	defer f.Close()
	r, err := o.Encoding.Reader(f)
	if err != nil {
		return nil, fmt.Errorf("reading topics: %w", err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading topics: %s: %w", path, err)
	}
	p := newTopicParser(o)
	p.seen = make(map[string]int, bytes.Count(b, []byte("\n"))/4)
	return p.all(path, func(line func(int, string) error) error { return eachLineOf(string(b), path, line) })
}

// ParseTopics is ReadTopics for an open file; name is for error messages.
func ParseTopics(r io.Reader, name string, o TopicOptions) ([]Topic, error) {
	r, err := o.Encoding.Reader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := newTopicParser(o)
	return p.all(name, func(line func(int, string) error) error { return eachLine(r, name, line) })
}

// all parses the topics of all lines.
func (p *topicParser) all(name string, lines func(func(n int, line string) error) error) ([]Topic, error) {
	if err := lines(p.line); err != nil {
		return nil, err
	}
	if p.longJSON.Len() > 0 {
		if n, err := p.jsonFile(p.longJSON.String()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.jsonLine+n, err)
		}
	}
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if p.renumbered > 0 && p.o.IDs == GuessIDs {
		return nil, fmt.Errorf("%s: the numbers behind .I are not 1, 2, 3, ... (%s is at position %d): say whether the "+
			"judgments name topics by position, as Cranfield's do (--topic-ids position), or by these numbers "+
			"(--topic-ids number)", name, p.odd, p.oddAt)
	}
	if len(p.topics) == 0 && p.untitled > 0 {
		return nil, fmt.Errorf("%s: no topic has %s: the fields are %s (--topic-field chooses)",
			name, p.wantedTags(), strings.Join(p.otherFields, ", "))
	}
	if len(p.topics) == 0 {
		return nil, fmt.Errorf("%s: no topics: want <top>, .I, JSON, or lines of ID, tab or colon, and text", name)
	}
	p.priorities()
	var notes []func(string)
	if p.o.Note != nil {
		notes = append(notes, p.o.Note)
	}
	for _, chosen := range []string{p.idChoice, p.textChoice} {
		if chosen != "" {
			tell(notes, "%s: %s", name, chosen)
		}
	}
	for _, note := range []struct {
		n    int
		what string
	}{
		{p.prioritized, "read as ID:priority:text, as in the Million Query track; the priorities are left out"},
		{p.numbered, "topics without an ID are named by their position"},
		{p.renumbered, "topics are numbered by position, not by what is behind .I"},
		{p.untitled, "topics without " + p.wantedTags() + " are left out: other fields are not taken for queries"},
		{p.partial, "topics that have not all of the fields " + strings.Join(p.wanted, ", ")},
		{p.empty, "topics without text are left out"},
	} {
		if note.n > 0 {
			tell(notes, "%s: %s (%d of %d)", name, note.what, note.n, len(p.topics)+p.empty+p.untitled)
		}
	}
	return p.topics, nil
}

type topicParser struct {
	o      TopicOptions
	topics []Topic
	seen   map[string]int // ID -> line
	format func(n int, line string) error

	// TREC and SMART topics stretch over lines.
	open      bool                        // inside a topic
	startLine int                         // where it began
	id        string                      // of the topic
	position  int                         // SMART: topics so far
	tagged    bool                        // these are TREC topics
	wanted    []string                    // fields of the query, by their first names
	parts     map[string]*strings.Builder // TREC: the texts of these that the topic has
	odd       string                      // SMART: the first number that is not its position
	oddAt     int
	field     string // the field the line belongs to
	text      strings.Builder

	columns  []string // of a table with a header: their names
	comma    bool     // that table is CSV
	colons   int      // topics whose ID ends with a colon
	jsonLine int      // JSON that is not one object a line: where it begins
	longJSON strings.Builder

	// How often something was guessed or left out.
	prioritized, numbered, renumbered, untitled, partial, empty int

	otherFields []string // that were left out, the first of them

	idChoice, textChoice string // which of several fields was taken
}

// fieldNames are names of the same field. The first is TREC's.
var fieldNames = [][]string{
	{"title", "query"}, {"desc", "description", "question"}, {"narr", "narrative"},
}

// namesOf are all names of a field.
func namesOf(field string) []string {
	field = strings.ToLower(strings.TrimSpace(field))
	for _, names := range fieldNames {
		if slices.Contains(names, field) {
			return names
		}
	}
	return []string{field}
}

func newTopicParser(o TopicOptions) *topicParser {
	p := &topicParser{o: o, seen: map[string]int{}, parts: map[string]*strings.Builder{}}
	for _, field := range o.Fields {
		p.wanted = append(p.wanted, namesOf(field)[0])
	}
	if len(p.wanted) == 0 {
		p.wanted = []string{"title"}
	}
	return p
}

// wantedTags says which tags hold the query.
func (p *topicParser) wantedTags() string {
	var list []string
	for _, field := range p.wanted {
		names := namesOf(field)
		list = append(list, fmt.Sprintf("a <%s>", names[0]))
		if len(names) > 1 {
			list[len(list)-1] += fmt.Sprintf(" (or <%s>)", strings.Join(names[1:], ">, <"))
		}
	}
	return strings.Join(list, ", or ")
}

func (p *topicParser) line(n int, line string) error {
	if p.o.Encoding == text.UTF8 && !utf8.ValidString(line) {
		return fmt.Errorf("%.60q is not UTF-8: is it Latin-1? Say what it is (--encoding latin1)", line)
	}
	if p.format == nil {
		first := strings.TrimSpace(line)
		switch {
		case first == "":
			return nil
		case first[0] == '<':
			p.format = p.trec
		case isTopicHeader(first, p.o.Fields):
			p.columns, p.comma = tableColumns(first)
			p.choose(p.columns)
			p.format = p.table
			return p.tableFields()
		case strings.HasPrefix(first, ".I"):
			p.format = p.smart
		case first[0] == '{' || first[0] == '[':
			p.format = p.json
		default:
			p.format = p.separated
		}
		if len(p.o.Fields) > 0 && (strings.HasPrefix(first, ".I") || !strings.ContainsAny(first[:1], "<{[")) {
			return fmt.Errorf("%.60q: such topics have no fields to choose from (--topic-field)", first)
		}
	}
	return p.format(n, line)
}

// add ends a topic.
func (p *topicParser) add(n int, id, text string) error {
	text = tidy(text)
	if text == "" {
		p.empty++
		return nil
	}
	if id == "" {
		return fmt.Errorf("a topic without a name: %.60q", text)
	}
	if strings.ContainsAny(id, blanks) {
		return fmt.Errorf("topic %q: a name with blanks cannot stand in a run", id)
	}
	if before, ok := p.seen[id]; ok {
		return fmt.Errorf("topic %s was on line %d already", id, before)
	}
	p.seen[id] = n
	p.topics = append(p.topics, Topic{id, text})
	return nil
}

// tidy leaves one blank between words and none around them. Most texts are so already.
func tidy(text string) string {
	blank := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= 0x80 || c == ' ' && blank {
			blank = true
			break
		}
		blank = c == ' '
	}
	if blank {
		return strings.Join(strings.Fields(text), " ")
	}
	return text
}

func (p *topicParser) end() error {
	if !p.open {
		return nil
	}
	p.open = false
	if !p.tagged {
		return p.add(p.startLine, p.id, p.text.String())
	}
	if len(p.parts) == 0 {
		p.untitled++
		return nil
	}
	texts := make([]string, 0, len(p.wanted))
	for _, field := range p.wanted {
		if part := p.parts[field]; part != nil {
			texts = append(texts, part.String())
		}
	}
	if len(texts) < len(p.wanted) {
		p.partial++
	}
	return p.add(p.startLine, p.id, strings.Join(texts, " "))
}

func (p *topicParser) begin(n int) {
	p.open, p.startLine, p.id, p.field = true, n, "", ""
	p.text.Reset()
	clear(p.parts)
}

// trec: tags <top>, <num>, <title>, others; text until the next tag. A '<' that does
// not begin a tag is text.
func (p *topicParser) trec(n int, line string) error {
	for line != "" {
		at := strings.IndexByte(line, '<')
		if at < 0 {
			p.trecText(line)
			break
		}
		tag, attributes, after, isTag := tagOf(line[at+1:])
		if !isTag {
			p.trecText(line[:at+1])
			line = line[at+1:]
			continue
		}
		p.trecText(line[:at])
		line = after
		switch tag = strings.ToLower(tag); {
		case tag[0] == '?' || tag == "topics" || tag == "/topics":
		case tag == "top" || tag == "topic":
			if p.open {
				return fmt.Errorf("<%s> inside the topic of line %d", tag, p.startLine)
			}
			p.begin(n)
			p.id, p.tagged = topicNumber(attributes), true
		case tag == "/top" || tag == "/topic":
			if err := p.end(); err != nil {
				return err
			}
		case tag[0] == '/': // </num>, </title>
			p.field = ""
		case p.open:
			p.beginField(tag)
		}
	}
	p.trecText("\n")
	return nil
}

// beginField begins a field of a TREC topic.
func (p *topicParser) beginField(tag string) {
	p.field = namesOf(tag)[0]
	switch {
	case slices.Contains(p.wanted, p.field):
		if p.parts[p.field] == nil {
			p.parts[p.field] = &strings.Builder{}
		}
	case p.field != "num" && !slices.Contains(p.otherFields, tag) && len(p.otherFields) < 10:
		p.otherFields = append(p.otherFields, tag)
	}
}

// fieldHeads are what some topics say before the text of a field.
var fieldHeads = map[string]string{
	"title": "Topic:", "desc": "Description:", "narr": "Narrative:",
}

func (p *topicParser) trecText(s string) {
	switch {
	case !p.open:
	case p.field == "num":
		s = strings.TrimSpace(s)
		if s = strings.TrimSpace(strings.TrimPrefix(s, "Number:")); s != "" && p.id == "" {
			p.id = s
		}
	case p.parts[p.field] != nil:
		s = strings.TrimPrefix(strings.TrimLeft(s, " \t"), fieldHeads[p.field])
		p.parts[p.field].WriteString(html.UnescapeString(s))
	}
}

// topicNumber is the name of a topic in newer tracks: topic number="101" type="faceted".
func topicNumber(attributes string) string {
	_, after, _ := strings.Cut(attributes, `number="`)
	number, _, _ := strings.Cut(after, `"`)
	return number
}

// tagOf is the tag that a line begins with behind its '<', with what stands behind its name, and the
// rest of the line. Other text with a '<' is no tag.
func tagOf(line string) (name, attributes, after string, ok bool) {
	name, after, ok = strings.Cut(line, ">")
	if !ok {
		return "", "", line, false
	}
	name, attributes, _ = strings.Cut(name, " ")
	ok = isTagName(name) && (strings.TrimSpace(attributes) == "" || strings.Contains(attributes, `="`))
	return name, attributes, after, ok
}

// isTagName allows letters, then digits: topic, /topic, ?xml, webtrack2012.
func isTagName(s string) bool {
	s = strings.TrimRight(strings.TrimLeft(s, "/?"), "0123456789")
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

// smart: .I begins a topic, .T and .W hold its text; see TopicIDs.
func (p *topicParser) smart(n int, line string) error {
	if len(line) >= 2 && line[0] == '.' && line[1] >= 'A' && line[1] <= 'Z' &&
		(len(line) == 2 || line[2] == ' ' || line[2] == '\t') {
		if line[1] == 'I' {
			if err := p.end(); err != nil {
				return err
			}
			p.begin(n)
			p.position++
			p.id = p.smartID(strings.TrimSpace(line[2:]))
		}
		p.field = line[:2]
		return nil
	}
	if p.field == ".W" || p.field == ".T" {
		p.text.WriteString(line)
		p.text.WriteByte('\n')
	}
	return nil
}

// smartID names a topic by what is behind .I, or by its position.
func (p *topicParser) smartID(said string) string {
	position := strconv.Itoa(p.position)
	switch {
	case number(said) == position || said == "":
		return position
	case p.o.IDs == ByNumber || p.o.IDs == GuessIDs && !isNumber(said):
		return number(said)
	}
	if p.renumbered++; p.odd == "" {
		p.odd, p.oddAt = said, p.position
	}
	return position
}

// json: one object a line; or objects over several lines, or a list of them, which are
// collected first.
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

// jsonFile reads a whole file of JSON, and says after how many lines there is an error.
func (p *topicParser) jsonFile(text string) (lines int, err error) {
	at, err := p.jsonValues(text, func(at int) int { return p.jsonLine + strings.Count(text[:at], "\n") })
	return strings.Count(text[:at], "\n"), err
}

// jsonValues adds the topics of a text of JSON; line is the line of a byte in it.
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

// The usual names of topics' fields.
var (
	topicIDs = []string{"id", "_id", "qid", "query_id", "query-id", "queryid", "topic_id",
		"topic-id", "number", "num", "topic"}
	topicTexts = []string{"query", "text", "title", "question", "query_text"}
)

func (p *topicParser) jsonTopic(n int, fields map[string]any) error {
	pick := func(names []string) (value string, there bool) {
		for _, name := range names {
			switch v := fields[name].(type) {
			case string:
				return v, true
			case json.Number:
				return v.String(), true
			}
		}
		return "", false
	}
	text, ok := pick(topicTexts)
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
		return fmt.Errorf("no text: want a field %s, have %s (--topic-field chooses)",
			strings.Join(p.wanted, " or "), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	if !ok {
		return fmt.Errorf("no text: want one of the fields %s, have %s",
			strings.Join(topicTexts, ", "), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	id, ok := pick(topicIDs)
	if !ok {
		id = strconv.Itoa(len(p.topics) + p.empty + 1)
		p.numbered++
	}
	p.choose(slices.Collect(maps.Keys(fields)))
	return p.add(n, id, text)
}

// choose notes, once, which of several fields or columns IDs and texts are taken from.
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
		pick(&p.textChoice, "queries", topicTexts)
	}
}

// tableColumns splits a header at its tabs, or else its commas.
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

// columnOf finds the first of the wanted names that is there.
func columnOf(names, wanted []string) int {
	for _, w := range wanted {
		if i := slices.Index(names, w); i >= 0 {
			return i
		}
	}
	return -1
}

// table: a record of a table whose header named the columns, CSV or TSV.
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
	if err != nil {
		return fmt.Errorf("want %d columns, as the header has: %w", len(p.columns), err)
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

// tableFields says which of the wanted fields is no column of a table.
func (p *topicParser) tableFields() error {
	for _, field := range p.o.Fields {
		if columnOf(p.columns, namesOf(field)) < 0 {
			return fmt.Errorf("no column %s: there are %s (--topic-field chooses)",
				field, strings.Join(p.columns, ", "))
		}
	}
	return nil
}

// separated: ID, then a tab or else a colon, then the text.
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

// priorities takes the priorities off the topics of the Million Query track of 2009,
// 20001:1:obama family tree: if every topic has one, it is no word of the query.
func (p *topicParser) priorities() {
	if p.colons < len(p.topics) {
		return
	}
	for _, t := range p.topics {
		if priority, text, ok := strings.Cut(t.Text, ":"); !ok || text == "" || !isNumber(priority) || !isNumber(t.ID) {
			return
		}
	}
	for i := range p.topics {
		t := &p.topics[i]
		_, text, _ := strings.Cut(t.Text, ":")
		t.Text = tidy(text)
	}
	p.prioritized = len(p.topics)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
