package text

import (
	"strings"
	"testing"
)

// The words of lucene-english are those in the tests of Lucene's EnglishAnalyzer and in Porter's
// vocabulary.
func TestLuceneEnglish(t *testing.T) {
	a, err := ParseAnalyzer("lucene-english")
	if err != nil {
		t.Fatal(err)
	}
	if a.Name() != "lucene-english" {
		t.Errorf("name %q, want lucene-english", a.Name())
	}
	for in, want := range map[string]string{
		"books book the":              "book book",
		"steven's Steven’s steven＇s":  "steven steven steven",
		"dogs' us is go":              "dog us go",
		"caresses ponies ties caress": "caress poni ti caress",
		"feed agreed plastered bled":  "feed agre plaster bled",
		"motoring sing conflated":     "motor sing conflat",
		"troubled sized hopping tanned falling hissing fizzed failing filing":                  "troubl size hop tan fall hiss fizz fail file",
		"happy sky relational conditional rational valenci digitizer":                          "happi sky relat condit ration valenc digit",
		"possibly apology vietnamization operator feudalism decisiveness":                      "possibl apolog vietnam oper feudal decis",
		"triplicate formative formalize electriciti electrical hopeful goodness":               "triplic form formal electr electr hope good",
		"revival allowance inference airliner gyroscopic adjustable defensible":                "reviv allow infer airlin gyroscop adjust defens",
		"irritant replacement adjustment dependent adoption homologou communism":               "irrit replac adjust depend adopt homolog commun",
		"activate angulariti homologous effective bowdlerize probate rate cease controll roll": "activ angular homolog effect bowdler probat rate ceas control roll",
		"O’Neil o'neil 3.5 e-mail": "o’neil o'neil 3.5 e mail",
	} {
		var tok Tokens
		if err := a.Analyze([]byte(in), &tok); err != nil {
			t.Fatal(err)
		}
		var words []string
		for i := range tok.Words {
			words = append(words, string(tok.Word(i)))
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

// A user's list of stop words is part of the analyzer's name, from which an index restores it.
func TestWithStopWords(t *testing.T) {
	for base, want := range map[string]string{"unicode": "cats run", "english": "cat run",
		"lucene-english": "the cat run"} {
		a, err := WithStopWords(base, []string{"Eat", "dogs"})
		if base != "lucene-english" && err == nil {
			a, err = WithStopWords(base, []string{"the", "Eat", "dogs"})
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseAnalyzer(a.Name())
		if err != nil || again.Name() != a.Name() {
			t.Fatalf("ParseAnalyzer(%q) = %v, %v; want the same name", a.Name(), again, err)
		}
		for _, a := range []Analyzer{a, again} {
			var tok Tokens
			if err := a.Analyze([]byte("The cats eat dogs run"), &tok); err != nil {
				t.Fatal(err)
			}
			var words []string
			for i := range tok.Words {
				words = append(words, string(tok.Word(i)))
			}
			if got := strings.Join(words, " "); got != want {
				t.Errorf("%s: %q, want %q", a.Name(), got, want)
			}
		}
	}
	for _, bad := range []string{"whitespace", "english+stop", "klingon"} {
		if _, err := WithStopWords(bad, []string{"a"}); err == nil {
			t.Errorf("WithStopWords(%q): no error", bad)
		}
	}
	if _, err := WithStopWords("english", []string{"two words"}); err == nil {
		t.Error("a stop word of two words: no error")
	}
}
