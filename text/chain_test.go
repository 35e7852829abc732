package text

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/collocate/collocate/internal/trials"
)

// shown returns the words of a text with their positions and what they are in the text.
func shown(tb testing.TB, a Analyzer, doc string) string {
	tb.Helper()
	t := Tokens{WantSource: true}
	if err := a.Analyze([]byte(doc), &t); err != nil {
		tb.Fatal(err)
	}
	var list []string
	for i := range t.Words {
		s := t.Source[i]
		list = append(list, fmt.Sprintf("%s@%d=%s", t.Word(i), t.place(i), doc[s.Start:s.End]))
	}
	return strings.Join(list, "|")
}

// Each step on short examples: the words, their positions, and what they are in the text.
func TestChainsByExample(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"words", "The Cat’s naïve", "The@0=The|Cat's@1=Cat’s|naïve@2=naïve"},
		{"words | lower", "The CAT", "the@0=The|cat@1=CAT"},
		{"words|lower|fold", "Crème Straße Ærø Łódź ΆΛΦΑ йод が",
			"creme@0=Crème|strasse@1=Straße|aero@2=Ærø|lodz@3=Łódź|αλφα@4=ΆΛΦΑ|йод@5=йод|が@6=が"},
		{"words | lower(turkish)", "IŞIK", "ışık@0=IŞIK"},
		{"words | lower | stop(en) | stem(en)", "The cats are running", "cat@0=cats|run@1=running"},
		{"words | lower | stop(The, OF)", "the end of it", "end@0=end|it@1=it"},
		{"unicode | elide(french)", "L’avion", "avion@0=L’avion"},
		{"words | possessive", "Cat's", "Cat@0=Cat's"},
		{"value | lower", "  New York ", "new york@0=New York"},
		{"code", "await asyncio.create_task(x); std::vector<int> p->next end. $x",
			"await@0=await|asyncio.create_task@1=asyncio.create_task|x@2=x|std::vector@3=std::vector|" +
				"int@4=int|p->next@5=p->next|end@6=end|$x@7=$x"},
		{"code | parts | lower", "asyncio.create_task now",
			"asyncio.create_task@0=asyncio.create_task|asyncio@0=asyncio|create@1=create|task@2=task|now@3=now"},
		{"code | parts | lower", "parseHTTPResponse2 utf8 __init__ Ab",
			"parsehttpresponse2@0=parseHTTPResponse2|parse@0=parse|http@1=HTTP|response2@2=Response2|" +
				"utf8@3=utf8|__init__@4=__init__|init@4=init|ab@5=Ab"},
		{"words | lower | ngrams(2-3)", "Äpfel a",
			"äp@0=Äp|äpf@0=Äpf|pf@1=pf|pfe@1=pfe|fe@2=fe|fel@2=fel|el@3=el|a@4=a"},
		{"words | lower | edge(2-3)", "apple at",
			"apple@0=apple|ap@0=ap|app@0=app|at@1=at"},
		{"words | lower | stem(english) | edge(2-3)", "running", // the stem has fewer characters
			"run@0=running|ru@0=running"},
		{"unicode | index:synonyms(usa, united states)", "the usa army",
			"the@0=the|usa@1=usa|united@1=usa|army@2=army|states@2=usa"},
		{"unicode | index:synonyms(usa, united states)", "the united states army",
			"the@0=the|united@1=united|usa@1=united states|states@2=states|army@3=army"},
		{"unicode | index:synonyms(colour => color; united states => usa)", "a colour of united states now",
			"a@0=a|color@1=colour|of@2=of|usa@3=united states|now@5=now"},
		{"unicode | index:synonyms(a, b; a, b) | stem(en)", "a cats", "a@0=a|b@0=a|cat@1=cats"},
		{"unicode | synonyms(car, auto)", "car", "car@0=car"}, // only queries have these
	} {
		if got := shown(t, analyzer(t, tt.name), tt.doc); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.name, tt.doc, got, tt.want)
		}
	}
}

// What queries do: n-grams of beginnings are for documents, and synonyms for queries.
func TestChainsOfQueries(t *testing.T) {
	a := analyzer(t, "words | lower | edge(2-3) | synonyms(car, auto, motor car)")
	q := ForQuery(a)
	if got, want := shown(t, q, "Apple"), "apple@0=Apple"; got != want {
		t.Errorf("a query has %s, want %s", got, want)
	}
	said, err := Said(q, QuerySynonyms(a), "A fast Motor  Car or an AUTO")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range said {
		got = append(got, fmt.Sprintf("%s%v%v", p.Text, p.Or, p.Own))
	}
	want := "A fast[]-1|Motor  Car[car auto motor car]2|or an[]-1|AUTO[car auto motor car]1"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("said\n got %s\nwant %s", s, want)
	}
	if a := analyzer(t, "unicode"); ForQuery(a) != a || QuerySynonyms(a) != nil {
		t.Error("an analyzer that is no chain differs for queries")
	}
	q = ForQuery(analyzer(t, "words | index:lower | query:fold"))
	if got, want := shown(t, q, "Été"), "Ete@0=Été"; got != want {
		t.Errorf("a query has %s, want %s", got, want)
	}
}

// The name of a chain is canonical, and makes the same chain again.
func TestChainNames(t *testing.T) {
	for _, tt := range [][2]string{
		{"words|lower", "words | lower"},
		{" words | stem( en ) ", "words | stem(english)"},
		{"words|stop(a ,b)|ngrams(2-2)", "words | stop(a, b) | ngrams(2)"},
		{"unicode|stop(english,)", "unicode | stop(english,)"},
		{"unicode|stop(english)", "unicode | stop(english)"},
		{"words|index:edge(2-4)|query:synonyms(a,b;c=>d\\,e)", "words | edge(2-4) | synonyms(a, b; c => d\\,e)"},
		{"english+stop|index:synonyms(a b,c)", "english+stop | index:synonyms(a b, c)"},
		{"unicode | synonyms(c\\), \\(d)", "unicode | synonyms(c\\), (d)"},
	} {
		a := analyzer(t, tt[0])
		if a.Name() != tt[1] || Canonical(tt[0]) != tt[1] {
			t.Errorf("%s is named %s and %s, want %s", tt[0], a.Name(), Canonical(tt[0]), tt[1])
		}
		if again := analyzer(t, a.Name()); again.Name() != a.Name() {
			t.Errorf("%s makes %s", a.Name(), again.Name())
		}
	}
}

// Mistakes in a declaration are errors that say what to write.
func TestChainMistakes(t *testing.T) {
	for _, tt := range [][2]string{
		{"words |", "missing after |"},
		{"| lower", "a step is missing"},
		{"lower | words", "the first step splits the text"},
		{"words | upper", `unknown step "upper"`},
		{"words | stem(klingon)", "want one of arabic"},
		{"words | stem", "want one of arabic"},
		{"words | lower(x)", "or turkish"},
		{"words | fold(x)", "takes no argument"},
		{"words(x) | lower", "takes no argument"},
		{"words | ngrams(3-2)", "want N or FROM-TO"},
		{"words | ngrams(9)", "at most 8"},
		{"words | edge(2-65)", "at most 64"},
		{"words | stop()", "stop(LANGUAGE)"},
		{"words | stop(New York)", "is 2 words"},
		{"words | stop(@list.txt)", "is a file"},
		{"words | synonyms(@list.txt)", "is a file"},
		{"words | synonyms(a)", "alone"},
		{"words | synonyms(a => b => c)", "comes twice"},
		{"words | synonyms(a, ,b)", "an empty word"},
		{"words | synonyms(a, -)", "leaves no word of it"},
		{"words | synonyms(a, b) | lower", "the last step"},
		{"words | synonyms(a, b) | synonyms(c, d)", "there are two"},
		{"words | ngrams(2) | synonyms(ab, cd)", "n-grams"},
		{"english | stem(english)", "stemmed already"},
		{"words | stem(en) | stem(de)", "stemmed already"},
		{"words | ngrams(2) | stem(en)", "have no stem"},
		{"words | parts | ngrams(2)", "overlap"},
		{"words | ngrams(2) | parts", "write it before"},
		{"words | lower", ""},
		{"words | lower fold", `unknown step "lower fold"`},
		{"words | stop(a", "not closed"},
		{"words | stop(a) fold", "want | after it"},
		{"klingon | lower", "unknown analyzer"},
		{"query:words | lower", "in the same way"},
		{"words" + strings.Repeat(" | fold", 32), "at most 32"},
	} {
		_, err := ParseAnalyzer(tt[0])
		if (err == nil) != (tt[1] == "") || err != nil && !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%s: error %v, want one with %q", tt[0], err, tt[1])
		}
	}
}

// A chain of steps is the language that is made of them.
func TestChainsEqualLanguages(t *testing.T) {
	docs := []string{"The dog's bosses' L'avion des françaises qu’il aufeinanderfolgende Häuser",
		"КНИГИ книгами corriendo taloissa generically Istanbul", "don't DON’T all'acqua IŞIK İSTANBUL"}
	for _, name := range languages() {
		lower := "unicode"
		if name == "turkish" {
			lower = "words | lower(turkish)"
		}
		if elided[name] != "" {
			lower += " | elide(" + name + ")"
		}
		end := " | stem(" + name + ")"
		if name == "porter" {
			end = " | possessive" + end
		}
		for _, doc := range docs {
			if got, want := shown(t, analyzer(t, lower+end), doc), shown(t, analyzer(t, name), doc); got != want {
				t.Errorf("%s of %q:\n got %s\nwant %s", name, doc, got, want)
			}
			if stopList(name) == nil {
				continue
			}
			chain := lower + " | stop(" + name + ")" + end
			if got, want := shown(t, analyzer(t, chain), doc), shown(t, analyzer(t, name+"+stop"), doc); got != want {
				t.Errorf("%s of %q:\n got %s\nwant %s", chain, doc, got, want)
			}
		}
	}
}

// plainToken is a word in the plain definition of chains.
type plainToken struct {
	word, source string
	start, at    int
}

// plainSteps are the definitions of steps, one word list to the next.
var plainSteps = map[string]func(list []plainToken) []plainToken{
	"lower": func(list []plainToken) (out []plainToken) {
		for _, t := range list {
			t.word = norm.NFC.String(strings.Map(foldWithQuote, t.word))
			out = append(out, t)
		}
		return out
	},
	"fold": func(list []plainToken) (out []plainToken) {
		for _, t := range list {
			word := ""
			for _, r := range norm.NFD.String(t.word) {
				last, _ := utf8.DecodeLastRuneInString(word)
				if s, ok := plainLetters[r]; ok {
					word += s
				} else if !isAccent(r) || !unicode.In(last, unicode.Latin, unicode.Greek) {
					word += string(r)
				}
			}
			t.word = norm.NFC.String(word)
			out = append(out, t)
		}
		return out
	},
	"parts": func(list []plainToken) (out []plainToken) {
		at := 0
		for _, t := range list {
			t.at = at
			out = append(out, t)
			parts := wordParts([]byte(t.word), nil)
			for n, p := range parts {
				if word := t.word[p.Start:p.End]; word != t.word {
					out = append(out, t.part(word, utf8.RuneCountInString(t.word[:p.Start]), at+n))
				}
			}
			at += max(1, len(parts))
		}
		return out
	},
	"ngrams(2-3)": func(list []plainToken) (out []plainToken) {
		at := 0
		for _, t := range list {
			runes := []rune(t.word)
			if len(runes) < 2 {
				t.at = at
				out, at = append(out, t), at+1
				continue
			}
			for i := range len(runes) - 1 {
				for n := 2; n <= 3 && i+n <= len(runes); n++ {
					out = append(out, t.part(string(runes[i:i+n]), i, at))
				}
				at++
			}
		}
		return out
	},
	"edge(1-3)": func(list []plainToken) (out []plainToken) {
		for _, t := range list {
			out = append(out, t)
			runes := []rune(t.word)
			for n := 1; n <= 3 && n < len(runes); n++ {
				out = append(out, t.part(string(runes[:n]), 0, t.at))
			}
		}
		return out
	},
}

// part returns a part of a word that begins at its character i.
func (t plainToken) part(word string, i, at int) plainToken {
	made := plainToken{word, t.source, t.start, at}
	if source := []rune(t.source); len(source) == utf8.RuneCountInString(t.word) {
		made.start += len(string(source[:i]))
		made.source = string(source[i : i+utf8.RuneCountInString(word)])
	}
	return made
}

// A chain is the composition of its steps: words, positions and sources are those of the plain
// definitions, one after the other.
func TestChainsAreCompositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	pieces := []string{"the", "Été", "été", "snake_case", "camelCase", "HTTPServer", "a.b_c", "ß", "Ǆ", "e\u0301a",
		"x", "東京", "don’t", "\xff", "--", "Straße9Ab", "_", "i̇X"}
	orders := [][]string{{"lower", "fold", "stop(the, été)", "ngrams(2-3)"}, {"parts", "lower", "fold", "edge(1-3)"},
		{"lower", "stop(the, été)", "edge(1-3)", "fold"}, {"parts", "lower"}, {"ngrams(2-3)", "lower"}, {"fold", "lower"}}
	for range trials.Cases(3000) {
		var doc []string
		for range rng.IntN(8) {
			doc = append(doc, pieces[rng.IntN(len(pieces))])
		}
		text := strings.Join(doc, " ")
		first := Tokenizers()[rng.IntN(2)]
		steps := slices.Clone(orders[rng.IntN(len(orders))])
		steps = slices.DeleteFunc(steps, func(s string) bool { return rng.IntN(4) == 0 })
		a := analyzer(t, strings.Join(append([]string{first}, steps...), " | "))

		words := Tokens{WantSource: true}
		if err := analyzer(t, first).Analyze([]byte(text), &words); err != nil {
			t.Fatal(err)
		}
		var list []plainToken
		for i, s := range words.Source {
			list = append(list, plainToken{string(words.Word(i)), text[s.Start:s.End], int(s.Start), i})
		}
		stops := []plainToken{{word: "the"}, {word: "été"}} // the steps before it change these, too
		for _, s := range steps {
			if s != "stop(the, été)" {
				list, stops = plainSteps[s](list), plainSteps[s](stops)
				continue
			}
			list = slices.DeleteFunc(list, func(t plainToken) bool {
				return slices.ContainsFunc(stops, func(s plainToken) bool { return s.word == t.word })
			})
			for i := range list {
				list[i].at = i // no gap where a word was dropped
			}
		}
		var want []string
		seen := map[string]bool{}
		for _, w := range list {
			if key := fmt.Sprint(w.at, w.word); !seen[key] {
				seen[key] = true
				want = append(want, fmt.Sprintf("%s@%d=%s", w.word, w.at, w.source))
			}
		}
		if got := shown(t, a, text); got != strings.Join(want, "|") {
			t.Fatalf("%s of %q:\n got %s\nwant %s", a.Name(), text, got, strings.Join(want, "|"))
		}
	}
}

// The steps of a text end with the words of the analyzer, and each has a name of the declaration.
func TestSteps(t *testing.T) {
	a := analyzer(t, "code | parts | lower | synonyms(task, job)")
	list, err := Steps(a, []byte("createTask"))
	if err != nil || len(list) != 3 || list[0].Step != "code" || list[1].Step != "parts" || list[2].Step != "lower" {
		t.Fatalf("steps %v, %v", list, err)
	}
	if w := list[2].Words[2]; w != (StepToken{"task", 6, 10, 1}) {
		t.Errorf("the last word is %v", w)
	}
	list, err = Steps(ForQuery(a), []byte("createTask"))
	if err != nil || len(list) != 4 || fmt.Sprint(list[3]) != "{synonyms [{create 0 6 0} {task 6 10 1} {job 6 10 1}]}" {
		t.Errorf("steps of a query: %v, %v", list, err)
	}
	list, err = Steps(analyzer(t, "english"), []byte("Cats"))
	if err != nil || fmt.Sprint(list) != "[{english [{cat 0 4 0}]}]" {
		t.Errorf("steps of english: %v, %v", list, err)
	}
}

// Files are read once, when a chain is declared: then the chain has their contents.
func TestInline(t *testing.T) {
	files := map[string]string{"stop.txt": "# list\nthe\nof\n", "syn.txt": "# all\ncar, auto\r\n\nTV => television, tele vision\n"}
	read := func(name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, errors.New("no such file")
	}
	got, err := Inline("unicode | stop(@stop.txt) | synonyms(@syn.txt)", read)
	want := "unicode | stop(the, of) | synonyms(car, auto; TV => television, tele vision)"
	if err != nil || got != want {
		t.Errorf("inline %s, %v; want %s", got, err, want)
	}
	if _, err := Inline("words | stop(@none)", read); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
	if got, err := Inline("unicode+stop:a,b", read); err != nil || got != "unicode+stop:a,b" {
		t.Errorf("inline %s, %v", got, err)
	}
	if got := WithSynonyms("english", mustSynonyms(t, "a, b")); got != "english | synonyms(a, b)" {
		t.Errorf("with synonyms: %s", got)
	}
}

func mustSynonyms(tb testing.TB, rules string) *Synonyms {
	tb.Helper()
	s, err := ParseSynonyms([]byte(rules))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Patterns of queries have the case and the accents that words of the chain have.
func TestNormalize(t *testing.T) {
	for _, tt := range [][3]string{{"whitespace", "Éa", "Éa"}, {"unicode", "Éa", "éa"}, {"english", "Runn", "runn"},
		{"words", "Éa", "Éa"}, {"words | lower", "Éa", "éa"}, {"words | lower | fold", "Éa", "ea"},
		{"unicode | fold", "Éa", "ea"}, {"words | lower | stem(en)", "Running", "running"}} {
		if got := Normalize(analyzer(t, tt[0]), tt[1]); got != tt[2] {
			t.Errorf("%s makes %s of %s, want %s", tt[0], got, tt[1], tt[2])
		}
	}
}

// A long list in a name is abbreviated for people.
func TestShort(t *testing.T) {
	long := "unicode | synonyms(" + strings.Repeat("car, auto; ", 100) + "a, b) | lower"
	if got := Short(long); len(got) > 200 || !strings.Contains(got, "bytes) | lower") {
		t.Errorf("short: %s", got)
	}
	if got := Short("words | lower"); got != "words | lower" {
		t.Errorf("short: %s", got)
	}
}

// Words of one Tokens are kept while another is filled, as the inverter does.
func TestExchangeChains(t *testing.T) {
	a := analyzer(t, "code | parts | lower")
	var now, before Tokens
	var kept string
	for i, doc := range []string{"createTask one", "snake_case two", "x.y three four"} {
		if err := a.Analyze([]byte(doc), &now); err != nil {
			t.Fatal(err)
		}
		if i > 0 && fmt.Sprint(wordList(&before), before.At) != kept {
			t.Errorf("kept %v %v, want %s", wordList(&before), before.At, kept)
		}
		now.Exchange(&before)
		kept = fmt.Sprint(wordList(&before), before.At)
	}
}

// Whatever is declared, parsing ends with an error or a chain whose name declares the same.
func FuzzChain(f *testing.F) {
	for _, s := range []string{"words | lower", "code|parts|lower|edge(2-3)", "unicode | stop(a\\,b, c) | synonyms(a b => c; d, e)",
		"words | index:synonyms(a, b) | ngrams(2)", "words | stop(", "words | \\", "value(", "words|x:y(z)"} {
		f.Add(s, "The createTask of USA")
	}
	f.Fuzz(func(t *testing.T, name, doc string) {
		if !isChain(name) {
			return
		}
		a, err := ParseAnalyzer(name)
		if err != nil {
			return
		}
		if a.Name() != Canonical(name) {
			t.Errorf("%q is named %q and %q", name, a.Name(), Canonical(name))
		}
		again, err := ParseAnalyzer(a.Name())
		if err != nil || again.Name() != a.Name() {
			t.Fatalf("%q does not make itself: %v", a.Name(), err)
		}
		for _, a := range []Analyzer{again, ForQuery(again)} {
			tok := Tokens{WantSource: true}
			if err := a.Analyze([]byte(doc), &tok); err != nil {
				t.Fatal(err)
			}
			if err := checkChain(&tok, doc); err != nil {
				t.Fatalf("%s of %q: %v", a.Name(), doc, err)
			}
		}
		Short(name)
	})
}

// checkChain checks what holds for the words of every chain.
func checkChain(t *Tokens, doc string) error {
	if len(t.Source) != len(t.Words) || len(t.At) != 0 && len(t.At) != len(t.Words) {
		return fmt.Errorf("%d words, %d sources, %d positions", len(t.Words), len(t.Source), len(t.At))
	}
	seen := map[string]bool{}
	for i := range t.Words {
		if s := t.Source[i]; s.Start >= s.End || int(s.End) > len(doc) {
			return fmt.Errorf("word %d has the source %v", i, s)
		}
		if len(t.Word(i)) == 0 || i > 0 && t.place(i) < t.place(i-1) {
			return fmt.Errorf("word %d is empty, or positions fall: %v", i, t.At)
		}
		key := fmt.Sprintf("%d %s", t.place(i), t.Word(i))
		if seen[key] {
			return fmt.Errorf("%s is there twice", key)
		}
		seen[key] = true
	}
	return nil
}

// Rules are printed so that they mean the same again.
func FuzzSynonyms(f *testing.F) {
	for _, s := range []string{"a, b => c", "a, b, c\n# x\nd e => f", "a\\,b, c\\=>d", "a;b", "x => ", "\\", "a,b\\"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSynonyms(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "synonyms: ") {
				t.Errorf("error %v", err)
			}
			return
		}
		again, err := ParseSynonyms([]byte(s.String()))
		if err != nil || again.String() != s.String() || again.Len() != s.Len() {
			t.Fatalf("%q is printed as %q, which is %v, %v", data, s, again, err)
		}
	})
}
