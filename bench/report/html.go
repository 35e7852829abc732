package report

import (
	"fmt"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/collocate/collocate/internal/atomicfile"
)

// WriteHTML writes index.html into the folder of Write, whose plots it shows.
func (r *Report) WriteHTML(dir string) error {
	if err := r.check(); err != nil {
		return err
	}
	err := atomicfile.WriteFile(filepath.Join(dir, "index.html"), func(f *atomicfile.File) error {
		_, err := io.WriteString(f, r.html())
		return err
	})
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

const htmlHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>%s</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}
table{border-collapse:collapse;margin:1em 0;font-size:13px;display:block;overflow-x:auto}
th,td{border:1px solid #ccc;padding:.2em .5em;text-align:right;vertical-align:top}
th:first-child,td:first-child,.prose td,.prose th{text-align:left}
img{max-width:100%%}
</style></head><body>
`

func (r *Report) html() string {
	var b strings.Builder
	title := html.EscapeString(r.Title)
	fmt.Fprintf(&b, htmlHead+"<h1>%s</h1>\n", title, title)
	htmlParagraphs(&b, r.Intro)
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "<h2>%s</h2>\n", html.EscapeString(s.Title))
		htmlParagraphs(&b, s.Text)
		for _, t := range s.Tables {
			t.html(&b)
		}
		for _, p := range s.Plots {
			fmt.Fprintf(&b, "<p><img src=\"%s.svg\" alt=\"%s\" loading=\"lazy\"></p>\n", p.Name,
				html.EscapeString(p.Title))
		}
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

func (t *Table) html(b *strings.Builder) {
	if t.Title != "" {
		fmt.Fprintf(b, "<p>%s (<a href=\"%s.csv\">CSV</a>)</p>\n", html.EscapeString(t.Title), t.Name)
	}
	class := ""
	if t.Prose {
		class = ` class="prose"`
	}
	fmt.Fprintf(b, "<table%s>\n", class)
	row := func(cells []string, tag string) {
		b.WriteString("<tr>")
		for _, c := range cells {
			fmt.Fprintf(b, "<%s>%s</%s>", tag, html.EscapeString(c), tag)
		}
		b.WriteString("</tr>\n")
	}
	row(t.Header, "th")
	for _, r := range t.Rows {
		row(r, "td")
	}
	b.WriteString("</table>\n")
}

var (
	boldText = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	codeText = regexp.MustCompile("`([^`]+)`")
)

// htmlParagraphs writes the Markdown of an introduction or a section: paragraphs, bold, code.
func htmlParagraphs(b *strings.Builder, text string) {
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p == "" {
			continue
		}
		p = boldText.ReplaceAllString(html.EscapeString(p), "<b>$1</b>")
		fmt.Fprintf(b, "<p>%s</p>\n", codeText.ReplaceAllString(p, "<code>$1</code>"))
	}
}
