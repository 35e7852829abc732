package datagen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
)

// vectorLines returns the vectors, after checking their numbers.
func vectorLines(t *testing.T, o VectorOptions) (list []map[string]int) {
	t.Helper()
	var b bytes.Buffer
	if err := Vectors(context.Background(), &b, o); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		number := strconv.Itoa(i + 1)
		var document struct {
			ID     string
			Vector map[string]int
		}
		if o.Queries {
			var id string
			id, line, _ = strings.Cut(line, "\t")
			document.ID = "d" + id
			line = `{"vector":` + line + "}"
		}
		if err := json.Unmarshal([]byte(line), &document); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if document.ID != "d"+number {
			t.Fatalf("line %d is of %q", i+1, document.ID)
		}
		list = append(list, document.Vector)
	}
	return list
}

// Vectors have about as many entries as asked for, out of so many tokens, with weights of a byte,
// and are the same for any number of threads.
func TestVectorsHaveTheirShape(t *testing.T) {
	for _, o := range []VectorOptions{{Seed: 1}, {Queries: true}, {Sorted: true, Topics: 10},
		{Count: 700, Entries: 20, Tokens: 500, Topics: 3}} {
		o.Threads = 3
		list := vectorLines(t, o)
		o.Threads = 1
		again := vectorLines(t, o)
		want := map[int]int{0: 119, 20: 20}[o.Entries]
		if o.Queries {
			want = 43
		}
		entries, tokens := 0, map[string]bool{}
		for i, v := range list {
			if len(v) != len(again[i]) {
				t.Fatalf("%+v: vector %d depends on threads", o, i)
			}
			entries += len(v)
			for token, weight := range v {
				tokens[token] = true
				if weight < 1 || weight > 255 || again[i][token] != weight {
					t.Fatalf("%+v: vector %d: %s has weight %d, then %d", o, i, token, weight, again[i][token])
				}
			}
		}
		if mean := float64(entries) / float64(len(list)); math.Abs(mean/float64(want)-1) > 0.1 {
			t.Errorf("%+v: %.1f entries a vector, want about %d", o, mean, want)
		}
		if most := max(o.Tokens, 500); len(tokens) > 30_522 || o.Tokens > 0 && len(tokens) > most {
			t.Errorf("%+v: %d tokens", o, len(tokens))
		}
	}
}

// Neighbours have more tokens in common if documents are sorted.
func TestSortedVectorsAreAlike(t *testing.T) {
	common := func(o VectorOptions) (n int) {
		list := vectorLines(t, o)
		for i := 1; i < len(list); i++ {
			for token := range list[i] {
				if list[i-1][token] > 0 {
					n++
				}
			}
		}
		return n
	}
	if mixed, sorted := common(VectorOptions{Topics: 20}), common(VectorOptions{Topics: 20, Sorted: true}); sorted < 2*mixed {
		t.Errorf("neighbours have %d tokens in common, sorted ones %d", mixed, sorted)
	}
}

func TestWrongVectorsAreRefused(t *testing.T) {
	for _, o := range []VectorOptions{{Count: -1}, {Entries: -1}, {Tokens: -1}, {Topics: -1},
		{Tokens: mostTokens + 1}, {Topics: mostTokens}, {Entries: 100, Tokens: 200}} {
		err := Vectors(context.Background(), &bytes.Buffer{}, o)
		if wrong := (*OptionError)(nil); !errors.As(err, &wrong) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
}
