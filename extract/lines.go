package extract

import (
	"bytes"
	"iter"

	"github.com/collocate/collocate/fields"
)

// lines yields the lines of a text from an offset on, with their ends, and where they begin. They
// end with LF, CR LF or, in files of old Macs, CR.
func lines(text []byte, from int) iter.Seq2[int, string] {
	last := byte('\n')
	if bytes.IndexByte(text, '\n') < 0 {
		last = '\r'
	}
	return func(yield func(int, string) bool) {
		for at := from; at < len(text); {
			end := len(text)
			if i := bytes.IndexByte(text[at:], last); i >= 0 {
				end = at + i + 1
			}
			if !yield(at, string(text[at:end])) {
				return
			}
			at = end
		}
	}
}

// setDate sets the date if it is one that a date field takes.
func (d *Document) setDate(value string) {
	if _, err := fields.ParseDate([]byte(value)); err == nil && len(d.Fields["date"]) == 0 {
		d.set("date", value)
	}
}
