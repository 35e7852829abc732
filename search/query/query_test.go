package query

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func term(s string) Node { return Term{s} }

func TestParse(t *testing.T) {
	o := Options{Fields: []string{"title", "year", "place", "lang"}}
	for text, want := range map[string]Node{
		"":                         nil,
		"solar":                    term("solar"),
		"solar eclipse":            Or{[]Node{term("solar"), term("eclipse")}},
		"+solar eclipse -lunar":    Or{[]Node{Must{term("solar")}, term("eclipse"), Not{term("lunar")}}},
		"+solar":                   term("solar"),
		"solar AND NOT lunar":      And{[]Node{term("solar"), Not{term("lunar")}}},
		"a OR b AND c d":           Or{[]Node{term("a"), And{[]Node{term("b"), term("c")}}, term("d")}},
		"(a OR b) AND c":           And{[]Node{Or{[]Node{term("a"), term("b")}}, term("c")}},
		"effects (in vitro) of":    Or{[]Node{term("effects"), term("in"), term("vitro"), term("of")}},
		`"a phrase"~2`:             Phrase{"a phrase", 2},
		`-"a b"`:                   Not{Phrase{"a b", 0}},
		"a NEAR/3 b NEAR/3 c":      Near{[]string{"a", "b", "c"}, 3, false},
		"a BEFORE/3 b":             Near{[]string{"a", "b"}, 3, true},
		"pref* te?t a*b":           Or{[]Node{Prefix{"pref"}, Wildcard{"te?t"}, Wildcard{"a*b"}}},
		"fuzzy~ fuzzy~1":           Or{[]Node{Fuzzy{"fuzzy", 2}, Fuzzy{"fuzzy", 1}}},
		"word^3 \"a b\"^.5":        Or{[]Node{Boost{term("word"), 3}, Boost{Phrase{"a b", 0}, .5}}},
		"title:word^3":             Boost{Field{"title", term("word")}, 3},
		"title:(a b)":              Field{"title", Or{[]Node{term("a"), term("b")}}},
		"year:[2020 TO 2024]":      Field{"year", Range{From: "2020", To: "2024"}},
		"year:{2020 TO *}":         Field{"year", Range{From: "2020", OpenFrom: true, OpenTo: true}},
		"year:>=2020":              Field{"year", Range{From: "2020"}},
		"place:[52,13 TO 53,14.5]": Field{"place", Box{52, 13, 53, 14.5}},
		"#lang:en dog":             Or{[]Node{Filter{Field{"lang", term("en")}}, term("dog")}},
		"id:(d1 d2) id:d3":         Or{[]Node{IDs{[]string{"d1", "d2"}}, IDs{[]string{"d3"}}}},
		"*:* -a":                   Or{[]Node{All{}, Not{term("a")}}},
		"a && !b || c":             Or{[]Node{And{[]Node{term("a"), Not{term("b")}}}, term("c")}},
		`\&& a&&b ! \!a`:           Or{[]Node{term("&&"), term("a&&b"), term("!"), term("!a")}},
		`id:"a*"`:                  IDs{[]string{"a*"}},
		"*ology (*ism) *a?b^2": Or{[]Node{Wildcard{"*ology"}, Wildcard{"*ism"},
			Boost{Wildcard{"*a?b"}, 2}}},
		"*clip* ?un -?*n *?x": Or{[]Node{Wildcard{"*clip*"}, Wildcard{"?un"}, Not{Wildcard{"?*n"}},
			Wildcard{"*?x"}}},
		"**bold** *": Or{[]Node{term("**bold**"), All{}}},
		"* -a":       Or{[]Node{All{}, Not{term("a")}}},
		`\+a \AND`:   Or{[]Node{term("+a"), term("AND")}},
		// plain words
		"C++ e-mail AT&T 3/4 f(x) what's it? (why?) a - b http://x.org/a 12:30 note: 5\" and or not ** ?": Or{[]Node{
			term("C++"), term("e-mail"), term("AT&T"), term("3/4"), term("f(x)"), term("what's"), term("it?"),
			term("why?"), term("a"), term("-"), term("b"), term("http://x.org/a"), term("12:30"), term("note:"),
			term(`5"`), term("and"), term("or"), term("not"), term("**"), term("?")}},
	} {
		got, err := Parse(text, o)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %#v, %v\nwant %#v", text, got, err, want)
		}
	}
	if got, _ := Parse("a OR b c -d", Options{And: true}); got.String() != "(a b) AND c AND -d" {
		t.Errorf("with Options.And: %v, want (a b) AND c AND -d", got)
	}
	if got, _ := Parse("foo:bar", Options{}); got != term("foo:bar") {
		t.Errorf("without fields: %#v, want the term foo:bar", got)
	}
}

func TestParseErrors(t *testing.T) {
	o := Options{Fields: []string{"title", "year"}}
	for text, want := range map[string]string{
		`solar "eclipse`:      "column 7: expected a closing quotation mark",
		`die Ähre (b`:         "column 10: expected a closing parenthesis",
		`a AND`:               "column 6: expected a word, a phrase or a group after AND",
		`OR a`:                "column 1: expected a word, a phrase or a group before OR",
		`a AND OR b`:          "column 7: expected a word, a phrase or a group before OR",
		`a AND NOT`:           "column 10: expected a word, a phrase or a group after NOT",
		`a (b AND)`:           "column 9: expected a word, a phrase or a group after AND",
		`"a b"~x`:             "column 7: expected a number of words",
		`a NEAR/x b`:          "column 8: expected a number of words",
		`a NEAR/2`:            "column 9: expected a word after NEAR",
		`"a b" NEAR/2 c`:      "expected a single word before NEAR",
		`a NEAR/2 b BEFORE/2`: "expected the same operator",
		`word~7`:              "column 1: expected at most 2 typing errors",
		`(a b)^x`:             "column 7: expected a positive number after ^",
		`titel:word`:          "column 1: no field \"titel\"; expected title, year or id",
		`year:[2020 2024]`:    "column 12: expected TO",
		`year:[2020 TO 2024`:  "column 19: expected ] or }",
		`year:[2020 TO `:      "column 15: expected an end of the range",
		`title:>`:             "column 8: expected a value",
		`title: word`:         "column 7: expected a word or a value directly after \"title:\"",
		`a title:`:            "column 9: expected a word or a value",
		`(title:)`:            "column 8: expected a word or a value",
		`title:()`:            "column 8: expected a word or a value",
		`id:d1*`:              "column 4: expected a whole ID",
		`id:(d1 d2*)`:         "column 8: expected a whole ID",
		`a && || b`:           "expected a word, a phrase or a group before OR",
		`id:()`:               "column 5: expected an ID",
		`year:[9,5 TO 8,6]`:   "column 6: expected a box",
	} {
		_, err := Parse(text, o)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := Parse(strings.Repeat("(", 1e6), o); err == nil {
		t.Error("a million parentheses: no error")
	}
}

// roundTrip checks that a parsed query, printed and parsed again, is the same.
func roundTrip(t interface{ Fatalf(string, ...any) }, text string, o Options) {
	n, err := Parse(text, o)
	if err != nil || n == nil {
		return
	}
	again, err := Parse(n.String(), Options{AnyField: true})
	if err != nil || !reflect.DeepEqual(n, again) {
		t.Fatalf("%q\n is %#v\n printed %q\n which is %#v, %v", text, n, n.String(), again, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`+must -not "a phrase"~2 title:word date:[2020 TO 2024] (a OR b) AND c pref* fuzzy~1`,
		`a NEAR/3 b BEFORE/2 c^2 id:(x "y z") #k:v place:[1,2 TO 3,4] te?t \( a\ b ~ ^3`,
		"only words or 2", "x:(y:z) -(-a) +(+b) NOT \\- é* \xff* \\\xff~ a\\",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, all bool) {
		roundTrip(t, text, Options{AnyField: true, And: all})
		Parse(text, Options{Fields: []string{"a"}})
		if n, err := Parse(text, Options{And: all}); OnlyWords(text) && (err != nil || !Plain(text, n, Options{And: all})) {
			t.Errorf("OnlyWords(%q) is true, but it is parsed as %v, %v", text, n, err)
		}
	})
}

func TestRoundTrip(t *testing.T) {
	pieces := []string{"a", "b", "word", "é", "\xff", " ", " ", " ", "(", ")", "\"", "\\", "+", "-",
		"#", "*", "?", "~", "1", "2",
		"^", "3", ":", "x:", "id:", "[", "]", "{", "}", "TO", " AND ", " OR ", " NOT ", " NEAR/2 ",
		" BEFORE/2 ", ">", "<=", ",", "."}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "text"), "")
		roundTrip(t, text, Options{AnyField: true, And: rapid.Bool().Draw(t, "and")})
	})
}

// Queries of real users are parsed as plain words, except for 8 of 50,000, in which a question mark
// replaces a letter.
func TestPlainQueries(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "queries")
	f, err := os.Open(filepath.Join(dir, "topics.terabyte05.efficiency.txt"))
	if err != nil {
		t.Skip("no shared data:", err)
	}
	defer f.Close()
	other := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		_, text, _ := strings.Cut(s.Text(), ":")
		n, err := Parse(text, Options{})
		if err == nil && Plain(text, n, Options{}) {
			continue
		}
		if other++; other < 20 {
			t.Logf("%s: %#v %v", text, n, err)
		}
	}
	if other != 8 {
		t.Errorf("%d of 50,000 queries are not plain words, want 8", other)
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{"a b": true, "a (b c)": false, "what? e-mail": true,
		"a OR b": false, "a (OR b)": false, `\+a`: false, "+a b": false} {
		for _, o := range []Options{{}, {And: true}} {
			if n, err := Parse(text, o); Plain(text, n, o) != (want && err == nil) {
				t.Errorf("%s, parsed as %v, %v: Plain is %v, want %v", text, n, err, Plain(text, n, o),
					want && err == nil)
			}
		}
	}
}

func TestGame(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "queries", "search-benchmark-game.jsonl"))
	if err != nil {
		t.Skip("no shared data:", err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); n++ {
		var q struct{ Query string }
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(q.Query, Options{}); err != nil {
			t.Error(q.Query, err)
		}
		roundTrip(t, q.Query, Options{AnyField: true})
	}
	if n != 962 {
		t.Errorf("%d queries, want 962", n)
	}
}

// Text of any form is parsed in time that grows with its length, and noted and printed so: if it
// grew with the square, this would take hours. What is too deep or too large is an error that says
// so.
func TestLongQueries(t *testing.T) {
	const n = 60_000
	for _, part := range []string{"?", "*", "a?", "*a", "a*", "^", "a^1", "a^", "~", "a~1", "a~", "\\", "(", "(a ", "a(",
		")", "a)", "\"", "\"a", "x:", "x:(a) ", "[", "[1 TO ", "x:[1 TO 2] ", "- ", "-a ", "NOT a ", "NOT ", "OR ", "a OR ",
		"a AND ", "a NEAR/2 ", "a BEFORE/2 ", "id:a ", "#", "+", "é?", "a ", "\xff", ">", "x:>1 "} {
		for _, text := range []string{strings.Repeat(part, n/len(part)), "a" + strings.Repeat(part, n/len(part)) + "b"} {
			for _, o := range []Options{{}, {And: true, AnyField: true}} {
				node, err := Parse(text, o)
				if e := new(Error); err != nil && !errors.As(err, &e) {
					t.Errorf("%.20s: %v", text, err)
				}
				if node != nil {
					_ = node.String()
				}
				Notes(text, o)
			}
		}
	}
	nines := strings.Repeat("9", n)
	for text, want := range map[string]string{
		"a^" + nines:           "expected a positive number after ^",
		"a NEAR/" + nines:      "expected a number of words from 1 to 1000000 after NEAR/",
		`"a b"~` + nines:       "expected a number of words from 0 to 1000000 after ~",
		"a~" + nines:           "expected at most 2 typing errors",
		strings.Repeat("(", n): "groups are nested more than 100 deep",
	} {
		_, err := Parse(text, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %.100v, want %s", text, err, want)
		} else if len(err.Error()) > 1000 {
			t.Errorf("%.20s: an error of %d bytes", text, len(err.Error()))
		}
	}
}
