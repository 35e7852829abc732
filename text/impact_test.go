package text

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// weightsOf returns the sums of the counts of each token.
func weightsOf(t *Tokens) map[string]uint32 {
	sums := map[string]uint32{}
	for i := range t.Words {
		sums[string(t.Word(i))] += t.Counts[i]
	}
	return sums
}

func TestImpactsByExample(t *testing.T) {
	for _, tt := range []struct{ analyzer, doc, want string }{
		{"impact", `{"a":3,"b b":1,"##c":65535}`, "map[##c:65535 a:3 b b:1]"},
		{"impact", ` { "a" : 2.0 , "\u00e9\n" : 1e2 } `, "map[a:2 é\n:100]"},
		{"impact", `{"a":1,"b":0,"[x]":2}`, "map[[x]:2 a:1]"},
		{"impact", `{"a":1,"b":2,"\u0061":1}`, `token "a" is there twice`},
		{"impact", `[["a",5],["b",1]]`, "an array: want an object"},
		{"impact", ` ["a",5]`, "an array: want an object"},
		{"impact", `[CLS] a [SEP]`, "map[[CLS]:1 [SEP]:1 a:1]"},
		{"impact", `{}`, "map[]"},
		{"impact", "", "map[]"},
		{"impact", "a b\ta a", "map[a:3 b:1]"},
		{"impact:100", `{"a":1.254,"b":0.004,"c":655.35,"d":0.005,"e":0.015}`, "map[a:125 c:65535 e:2]"},
		{"impact:1", `{"a":1.5,"b":2.5}`, "map[a:2 b:2]"},
		{"impact", `{"a":1.5}`, `column 6: token "a": weight 1.5 is not a whole number: scale weights to whole numbers, or index with the analyzer impact:100`},
		{"impact", `{"a":-1}`, "want a number that is not negative"},
		{"impact", `{"a":65536}`, "want at most 65535"},
		{"impact:100", `{"a":655.36}`, "want at most 655.35"},
		{"impact", `{"a":1e999}`, "want a number that is not negative"},
		{"impact", `{"":1}`, "a token is empty"},
		{"impact", `{"a":"1"}`, `column 6: token "a": weight "1": want a number`},
		{"impact", `{"a":null}`, `token "a": weight null: want a number`},
		{"impact", `{"indices":[1,2],"values":[0.5]}`, `token "indices": weight [1,2]: want a number`},
		{"impact", `{"a":NaN}`, "column 6: JSON has 'N': want a number"},
		{"impact", `{"a":01}`, "a comma or }"},
		{"impact", `{"a":1`, "a comma or }"},
		{"impact", `{"a":1,}`, "a string"},
		{"impact", `{"a":1} x`, "the end"},
		{"impact", `{"a" 1}`, "a colon"},
	} {
		var tok Tokens
		got := ""
		if err := analyzer(t, tt.analyzer).Analyze([]byte(tt.doc), &tok); err != nil {
			got = err.Error()
		} else if got = fmt.Sprint(weightsOf(&tok)); tok.Total() != int(sumOf(weightsOf(&tok))) {
			t.Errorf("%s: the total is %d", tt.doc, tok.Total())
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s of %s: %s, want %s", tt.analyzer, tt.doc, got, tt.want)
		}
	}
	for _, name := range []string{"impact:", "impact:0", "impact:10001", "impact:01", "impact:1.5", "impacts"} {
		if _, err := ParseAnalyzer(name); err == nil {
			t.Errorf("the analyzer %s: no error", name)
		}
	}
}

func sumOf(sums map[string]uint32) (n uint64) {
	for v := range maps.Values(sums) {
		n += uint64(v)
	}
	return n
}

// What encoding/json reads as an object of numbers, the analyzer reads alike, and nothing else.
func FuzzImpact(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":2.5}`, `{"\ud800":1e-3}`, `{"a":{}}`, `[1]`, `a b`, `{"a":01}`, "{\"\xff\":1}"} {
		f.Add(s)
	}
	an, err := ParseAnalyzer("impact:100")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if !utf8.ValidString(doc) {
			return // readers refuse it
		}
		var tok Tokens
		err := an.Analyze([]byte(doc), &tok)
		if !strings.HasPrefix(strings.TrimLeft(doc, " \t\r\n"), "{") {
			array := json.Valid([]byte(doc)) && strings.HasPrefix(strings.TrimLeft(doc, " \t\r\n"), "[")
			if array != (err != nil) {
				t.Fatalf("%q: error %v, want one: %v", doc, err, array)
			}
			return
		}
		want := map[string]uint32{}
		d := json.NewDecoder(strings.NewReader(doc))
		valid := json.Valid([]byte(doc))
		_, _ = d.Token()
		for valid && d.More() {
			name, _ := d.Token()
			var x any
			valid = d.Decode(&x) == nil
			w, number := x.(float64)
			n := math.RoundToEven(w * 100)
			valid = valid && number && w >= 0 && n <= maxImpact && (n == 0 || name != "")
			if valid && n > 0 {
				valid = want[name.(string)] == 0
				want[name.(string)] = uint32(n)
			}
		}
		if valid != (err == nil) {
			t.Fatalf("%q: error %v, want one: %v", doc, err, !valid)
		}
		if err == nil && !maps.Equal(weightsOf(&tok), want) {
			t.Fatalf("%q: %v, want %v", doc, weightsOf(&tok), want)
		}
	})
}

// Objects are texts only if weights are asked for, in every form of JSON.
func TestWeightsAreRead(t *testing.T) {
	o := NewObjects(Options{Weights: true, Encoding: UTF8})
	d, err := o.Parse([]byte(`{"id":"x","contents":"left out","vector":{"a":1,"b":{}}}`))
	if err != nil || string(d.Text) != `{"a":1,"b":{}}` || d.ID != "x" {
		t.Errorf("%q, %v", d.Text, err)
	}
	if !slices.Equal(o.Others(), []string{"contents"}) {
		t.Errorf("others are %q", o.Others())
	}
	if d, err = o.Parse([]byte(`{"vector":"a a b"}`)); err != nil || string(d.Text) != "a a b" {
		t.Errorf("%q, %v", d.Text, err)
	}
	if _, err = NewObjects(Options{Fields: []string{"vector"}}).Parse([]byte(`{"vector":{"a":1}}`)); err == nil {
		t.Error("an object as a text without weights: no error")
	}
}
