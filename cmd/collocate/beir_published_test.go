package main

import (
	"strings"
	"testing"
)

// Published values are shown only for the collection that they were published for.
func TestPublishedValuesAreOfTheSameCollection(t *testing.T) {
	if values, why := publishedFor("nfcorpus", 3633, 323, 12334); values["ndcg_cut_10"] != .3218 || why != "" {
		t.Errorf("BEIR's collection: %v, %q", values, why)
	}
	for want, have := range map[string][3]int{
		"3633 documents, and this collection has 3162": {3162, 323, 12334},
		"323 judged topics":                            {3633, 322, 12334}, "12334 judgments": {3633, 323, 12333},
	} {
		values, why := publishedFor("nfcorpus", have[0], have[1], have[2])
		if values != nil || !strings.Contains(why, want) {
			t.Errorf("%v: %v, %q", have, values, why)
		}
	}
	if values, why := publishedFor("news", 1, 1, 1); values != nil || why != "" {
		t.Errorf("an unknown collection: %v, %q", values, why)
	}
}
