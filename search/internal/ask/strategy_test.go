package ask

import (
	"encoding/json"
	"testing"
)

// The statistics of shards add up, and name what each has used.
func TestAddStats(t *testing.T) {
	all := Stats{Algorithm: BMM, Strategy: OrGuess, Words: 2, Postings: 5, Blocks: 3, Scored: 4}
	all.Add(&Stats{Algorithm: BMM, Strategy: OrGuess, Words: 2, Postings: 7, Blocks: 1, Skipped: 1})
	if got := all.How(); got != "bmm (or-guess)" {
		t.Errorf("two shards with the same strategy: %s, want bmm (or-guess)", got)
	}
	all.Add(&Stats{Algorithm: BMM, Strategy: OneLevels, Words: 1, Postings: 1, Blocks: 1, Decoded: 1})
	want := `{"algorithm":"bmm","strategy":"one-levels+or-guess","words":2,"postings":13,"blocks":5,` +
		`"scored":4,"decoded":1,"skipped":1,"entered":0}`
	if got, err := json.Marshal(all); err != nil || string(got) != want {
		t.Errorf("three shards: %s, %v; want %s", got, err, want)
	}
	var back Stats
	if err := json.Unmarshal([]byte(want), &back); err != nil || back.Strategy != all.Strategy {
		t.Errorf("%s is read as strategy %v, %v; want %v", want, back.Strategy, err, all.Strategy)
	}
	all.Add(&Stats{Strategy: TreePhrase})
	if got := all.How(); got != "one-levels+or-guess+tree-phrase" {
		t.Errorf("with a shard that used a strategy for trees: %s, want the strategies alone", got)
	}
}
