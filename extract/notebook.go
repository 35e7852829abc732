package extract

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// joined is text that Jupyter writes as one string or as a list of lines. Before version 3 these
// lack their ends, as do those of tracebacks.
type joined string

func (j *joined) UnmarshalJSON(b []byte) error {
	var list []string
	if json.Unmarshal(b, &list) == nil {
		end := ""
		if len(list) > 0 && !strings.HasSuffix(list[0], "\n") {
			end = "\n"
		}
		*j = joined(strings.Join(list, end))
		return nil
	}
	var one string
	err := json.Unmarshal(b, &one)
	*j = joined(one)
	return err
}

type notebookFile struct {
	Cells    []notebookCell
	Sheets   []struct{ Cells []notebookCell } `json:"worksheets"` // before version 4
	Metadata struct {
		Title string
		About struct{ Name string } `json:"language_info"`
	}
}

type notebookCell struct {
	Type    string `json:"cell_type"`
	Source  joined
	Input   joined // of code before version 4
	Level   int    // of a heading before version 4
	Outputs []struct {
		Text      joined
		Data      map[string]json.RawMessage
		Name      string `json:"ename"` // of an error
		Value     string `json:"evalue"`
		Traceback joined
	}
}

// colours are escape sequences of terminals.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// notebook has the cells of a Jupyter notebook, each followed by its outputs of plain text
// and errors.
func notebook(in *input) ([]Document, error) {
	data, name := in.toUTF8(in.data, "")
	var file notebookFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	d := Document{Encoding: name, Title: file.Metadata.Title}
	var out bytes.Buffer
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			if out.Len() > 0 {
				out.WriteString("\n\n")
			}
			out.WriteString(text)
		}
	}
	cells := file.Cells
	for _, s := range file.Sheets {
		cells = append(cells, s.Cells...)
	}
	for _, c := range cells {
		source := string(c.Source + c.Input)
		if c.Type == "heading" {
			source = strings.Repeat("#", max(1, min(c.Level, 6))) + " " + source
		}
		add(source)
		if c.Type == "markdown" || c.Type == "heading" {
			part, err := markdown(&input{data: []byte(strings.TrimSpace(source)), o: in.o})
			if err != nil {
				return nil, err
			}
			for _, h := range part[0].Headings {
				d.Headings = append(d.Headings, Heading{out.Len() - len(strings.TrimSpace(source)) + h.At, h.Level, h.Text})
			}
			for _, link := range part[0].Fields["link"] {
				d.set("link", link)
			}
		}
		printed := func(text joined) { add(colours.ReplaceAllString(string(text), "")) }
		for _, o := range c.Outputs {
			printed(o.Text)
			var plain joined
			if json.Unmarshal(o.Data["text/plain"], &plain) == nil {
				printed(plain)
			}
			if printed(o.Traceback); o.Traceback == "" && o.Name != "" {
				add(o.Name + ": " + o.Value)
			}
		}
	}
	d.set("language", file.Metadata.About.Name)
	d.Text = bytes.ToValidUTF8(out.Bytes(), []byte("\ufffd"))
	return []Document{d}, nil
}
