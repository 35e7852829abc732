package api

import (
	"bytes"
	"fmt"
	"os"
	"slices"
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
	var notes notes
	for _, q := range Questions() {
		fmt.Fprintf(b, "| [%s](#%s) |", q.Name, strings.ReplaceAll(q.Name, " ", "-"))
		for _, d := range AllDoors() {
			b.WriteString(notes.cell(q.Without(d), ""))
		}
		b.WriteString("\n")
	}
	notes.write(b)
}

// notes are the reasons of refusals, each once.
type notes []string

// cell returns the cell of a table for the reason of a refusal, or for a difference, if any.
func (n *notes) cell(why, differs string) string {
	cell := "refused"
	if why == "" {
		cell, why = "same", differs
	}
	if why == "" {
		return " same |"
	}
	i := slices.Index(*n, why)
	if i < 0 {
		*n, i = append(*n, why), len(*n)
	}
	return fmt.Sprintf(" %s (%d) |", cell, i+1)
}

func (n notes) write(b *bytes.Buffer) {
	for i, why := range n {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "%d. %s.\n", i+1, strings.ToUpper(why[:1])+why[1:])
	}
}

// ways lists how a question is asked at each door that has it.
func ways(q *Question) string {
	var list []string
	for _, d := range Doors() {
		if q.Without(d) != "" {
			continue
		}
		switch name := q.In(d); d {
		case Command:
			list = append(list, "`collocate "+name+"`")
		case HTTP:
			list = append(list, "`GET "+name+"`")
		case Python:
			list = append(list, "in Python `"+name+"`")
		case MCP:
			list = append(list, "for assistants `"+name+"`")
		}
	}
	return "- " + strings.Join(list, "\n- ")
}

func writeReference(b *bytes.Buffer, q *Question) {
	fmt.Fprintf(b, "\n## %s\n%s.\n\n%s\n\n| parameter | default | meaning |\n| --- | --- | --- |\n",
		q.Name, strings.ToUpper(q.Help[:1])+q.Help[1:], ways(q))
	for _, p := range q.Params() {
		help := p.Usage()
		if p.Kind == Whole || p.Kind == Number || p.Kind == Numbers {
			help += "; " + p.Wants()
		}
		name := "`" + p.Name + "`"
		var others []string
		if len(p.Also) > 0 {
			others = append(others, "also `"+strings.Join(p.Also, "`, `")+"`")
		}
		if p.Argument != "" {
			others = append(others, "in Python `"+p.Argument+"`")
		}
		if len(others) > 0 {
			name += " (" + strings.Join(others, ", ") + ")"
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
	var notes notes
	for _, p := range q.Params() {
		fmt.Fprintf(b, "| `%s` |", p.Name)
		for _, d := range doors {
			b.WriteString(notes.cell(p.Without(d), p.Differs(d)))
		}
		b.WriteString("\n")
	}
	notes.write(b)
}
