package trec

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// Topic is a query with its ID.
type Topic struct {
	// ID is what runs and judgments call the topic, without blanks; Text is the query, its words
	// separated by single blanks.
	ID, Text string
}

// TopicOptions are the options of ReadTopics. The zero value is useful.
type TopicOptions struct {
	// Encoding is the encoding of the file; the zero value is text.Bytes. With text.UTF8, the
	// command's default as in text.Options, a line that is not UTF-8 is an error.
	Encoding text.Encoding
	// IDs selects the IDs of topics of SMART collections; the zero value is GuessIDs.
	IDs TopicIDs
	// Fields names the fields that make up the query, in this order; none means title. They are
	// title (or query), desc (description, question), narr (narrative), or others by their names.
	// They apply to topics with tags, JSON and tables.
	Fields []string
	// Weights is for indexes of weighted tokens: in JSON the objects query_toks, toks and vector
	// come before texts, and must have numbers only.
	Weights bool
	// Note, unless it is nil, is called with a line of text for each kind of guess and of topics
	// that were left out.
	Note func(line string)
}

// TopicIDs selects the IDs of the topics of a SMART file.
type TopicIDs int

// The judgments of SMART collections number topics by position. In Cranfield that differs from the
// number after .I; in a file with only some of the topics, the numbers are right. If the two
// differ, GuessIDs is an error. IDs that are not numbers are kept.
const (
	GuessIDs TopicIDs = iota
	ByPosition
	ByNumber
)

var topicIDNames = choice.New[TopicIDs]("names of topics", "auto", "position", "number")

// TopicIDNames returns the names that ParseTopicIDs accepts.
func TopicIDNames() []string { return topicIDNames.List() }

func (t TopicIDs) String() string { return topicIDNames.Of(t) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (t TopicIDs) MarshalText() ([]byte, error) { return topicIDNames.Text(t) }

// UnmarshalText is the inverse of MarshalText.
func (t *TopicIDs) UnmarshalText(name []byte) error { return topicIDNames.Set(t, string(name)) }

// ParseTopicIDs returns the value with the given name.
func ParseTopicIDs(name string) (TopicIDs, error) { return topicIDNames.Parse(name) }

// ReadTopics reads a file of topics in any of the formats of the package comment. Topics without
// text are left out. Two topics with the same ID are an error, as is an ID with blanks, which a run
// cannot contain.
func ReadTopics(path string, o TopicOptions) ([]Topic, error) {
	open := textfile.Open
	if o.Encoding.Converts() {
		open = textfile.OpenBytes
	}
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("read topics: %w", err)
	}
	defer f.Close()
	r, err := o.Encoding.Reader(f)
	if err != nil {
		return nil, fmt.Errorf("read topics: %w", err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read topics: %s: %w", path, err)
	}
	p := newTopicParser(o)
	p.seen = make(map[string]int, bytes.Count(b, []byte("\n"))/4)
	return p.all(path, func(line func(int, string) error) error { return eachLineOf(string(b), path, line) })
}

// ParseTopics is like ReadTopics, for a reader. Errors begin with name.
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
		return nil, fmt.Errorf("%s: the numbers after .I are not 1, 2, 3, ... (%s is at position %d): choose whether the "+
			"judgments name topics by position, as Cranfield's do (trec.TopicOptions.IDs=position), or by these numbers "+
			"(trec.TopicOptions.IDs=number)", name, p.odd, p.oddAt)
	}
	if len(p.topics) == 0 && p.untitled > 0 {
		return nil, fmt.Errorf("%s: no topic has %s: the fields are %s; choose with trec.TopicOptions.Fields",
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
		{p.renumbered, "topics are numbered by position, not by the numbers after .I"},
		{p.untitled, "topics without " + p.wantedTags() + " are left out: other fields are not taken for queries"},
		{p.partial, "topics lack some of the fields " + strings.Join(p.wanted, ", ")},
		{p.empty, "topics without text are left out"},
	} {
		if note.n > 0 {
			tell(notes, "%s: %s (%d of %d)", name, note.what, note.n, len(p.topics)+p.empty+p.untitled)
		}
	}
	return p.topics, nil
}

// topicParser parses the lines of a file of topics.
type topicParser struct {
	o      TopicOptions
	topics []Topic
	seen   map[string]int                 // line of each ID
	format func(n int, line string) error // parses a line; nil before the first

	// The state within a topic of TREC or SMART, which has several lines.
	open      bool                        // inside a topic
	startLine int                         // where the topic begins
	id        string                      // of the topic
	position  int                         // SMART: topics so far
	tagged    bool                        // topics have tags, as TREC's
	wanted    []string                    // fields of the query, by their first names
	parts     map[string]*strings.Builder // TREC: the texts of the wanted fields
	odd       string                      // SMART: the first number that is not its position
	oddAt     int                         // the position of that topic
	field     string                      // the field that the line belongs to
	text      strings.Builder

	columns  []string // names of the columns of a table with a header
	comma    bool     // the table is CSV
	colons   int      // topics with a colon after the ID
	jsonLine int      // where JSON begins that is not one object per line
	longJSON strings.Builder

	// Numbers of topics for which something was guessed, or that were left out.
	prioritized, numbered, renumbered, untitled, partial, empty int

	otherFields []string // the first fields that were not wanted

	idChoice, textChoice string // notes on which of several fields were taken
}

// fieldNames lists the names of each field. The first is TREC's.
var fieldNames = [][]string{
	{"title", "query"}, {"desc", "description", "question"}, {"narr", "narrative"},
}

// namesOf returns all names of a field.
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

// wantedTags describes the tags of the query for an error or a note.
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
		return fmt.Errorf("%.60q is not UTF-8: name its encoding, such as trec.TopicOptions.Encoding=latin1", line)
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
			return fmt.Errorf("%.60q: such topics have no fields to choose from (trec.TopicOptions.Fields)", first)
		}
	}
	return p.format(n, line)
}

// add adds a topic, unless its text is empty.
func (p *topicParser) add(n int, id, text string) error {
	text = tidy(text)
	if text == "" {
		p.empty++
		return nil
	}
	if id == "" {
		return fmt.Errorf("a topic without an ID: %.60q", text)
	}
	if strings.ContainsAny(id, blanks) {
		return fmt.Errorf("topic %q: an ID in a run must not contain blanks", id)
	}
	if before, ok := p.seen[id]; ok {
		return fmt.Errorf("topic %s was on line %d already", id, before)
	}
	p.seen[id] = n
	p.topics = append(p.topics, Topic{id, text})
	return nil
}

// tidy returns a text with one blank between words and none around them. Most texts are like that
// already and are returned as they are.
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

// end ends a topic of several lines.
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

// priorities removes the priorities from topics of the Million Query track of 2009,
// 20001:1:obama family tree. They are taken for priorities if every topic has one.
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
