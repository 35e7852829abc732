package api

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

const reference = "../docs/reference.md"

// docs/reference.md is made from the declarations: every parameter with its values, and whether
// each door has it. UPDATE=1 writes it.
func TestReference(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`# Reference: what can be asked

This page is made from the declarations in package ` + "`api`" + `; the command, the server, Python and the
tools for assistants take their parameters from there, too. A flag of the command is written with
` + "`-` for `_`" + `.
`)
	writeQuestions(&b)
	for _, q := range Questions() {
		writeReference(&b, q)
	}
	old, err := os.ReadFile(reference)
	if bytes.Equal(old, b.Bytes()) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what the declarations say (%v): run UPDATE=1 go test ./api -run Reference", reference, err)
	}
	if err := os.WriteFile(reference, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// writeQuestions writes the table of all questions and doors.
func writeQuestions(b *bytes.Buffer) {
	b.WriteString("\n## Who can ask what\n|  |")
	for _, d := range AllDoors() {
		fmt.Fprintf(b, " %s |", d)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(AllDoors())) + "\n")
	var notes []string
	for _, q := range Questions() {
		fmt.Fprintf(b, "| [%s](#%s) |", q.Name, strings.ReplaceAll(q.Name, " ", "-"))
		for _, d := range AllDoors() {
			why := q.Without(d)
			if why == "" {
				b.WriteString(" same |")
				continue
			}
			notes = append(notes, fmt.Sprintf("%s, %s: %s.", q.Name, d, why))
			fmt.Fprintf(b, " refused (%d) |", len(notes))
		}
		b.WriteString("\n")
	}
	writeNotes(b, notes)
}

func writeNotes(b *bytes.Buffer, notes []string) {
	for i, note := range notes {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%d. %s\n", i+1, note)
	}
}

func writeReference(b *bytes.Buffer, q *Question) {
	fmt.Fprintf(b, "\n## %s\n%s.\n\n| parameter | default | meaning |\n| --- | --- | --- |\n",
		q.Name, strings.ToUpper(q.Help[:1])+q.Help[1:])
	for _, p := range q.Params {
		help := p.Usage()
		if want := p.Wants(); p.Kind == Whole || p.Kind == Number || p.Kind == Numbers {
			help += "; " + want
		}
		name := "`" + p.Name + "`"
		if len(p.Also) > 0 {
			name += " (also `" + strings.Join(p.Also, "`, `") + "`)"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, p.Default, strings.ReplaceAll(help, "|", `\|`))
	}
	fmt.Fprintf(b, "\nWho can ask it:\n\n|  |")
	var doors []Door
	for _, d := range Doors() {
		if q.Without(d) == "" {
			doors = append(doors, d)
			fmt.Fprintf(b, " %s |", d)
		}
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(doors)) + "\n")
	var notes []string
	for _, p := range q.Params {
		fmt.Fprintf(b, "| `%s` |", p.Name)
		for _, d := range doors {
			why := p.Without(d)
			cell := "refused"
			if why == "" {
				cell, why = "same", p.Differs(d)
			}
			if why != "" {
				notes = append(notes, fmt.Sprintf("`%s`, %s: %s.", p.Name, d, why))
				cell += fmt.Sprintf(" (%d)", len(notes))
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	writeNotes(b, notes)
}

// Python's search has an argument for each parameter that it can ask.
func TestPythonHasEveryParameter(t *testing.T) {
	source, err := os.ReadFile("../python/src/collocate/index.py")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "    # fmt: on\n\n    def search(")
	signature, _, found := strings.Cut(rest, ") -> Hits | BatchHits:")
	if !found {
		t.Fatal("index.py has no signature of search")
	}
	names := map[string]string{"q": "queries", "from": "from_", "plain": "syntax"}
	for _, p := range SearchQuestion.At(Python) {
		name := p.Name
		if other := names[name]; other != "" {
			name = other
		}
		if !strings.Contains(signature, "\n        "+name+":") {
			t.Errorf("search in Python has no argument %s", name)
		}
	}
}
