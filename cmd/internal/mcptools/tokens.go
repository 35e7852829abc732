package mcptools

import (
	"encoding/json"
	"fmt"
)

// tokenBytes is the number of bytes that are taken for a token of a language model. English text
// has a little more; it is a budget, not a count, as every model has tokens of its own.
const tokenBytes = 4

// within leaves out the last hits of an answer so that its JSON has at most so many tokens; 0 means
// any number. It says how many it left out.
func (r *searchResult) within(tokens, from int) {
	all := len(r.Hits)
	for tokens > 0 && len(r.Hits) > 0 {
		if text, err := json.Marshal(r); err == nil && len(text) <= tokens*tokenBytes {
			break
		}
		r.Hits = r.Hits[:len(r.Hits)-1]
		r.Next = from + len(r.Hits)
	}
	switch left := all - len(r.Hits); {
	case left == 0:
		if int64(from+all) < r.Total && all > 0 {
			r.Next = from + all
		}
	case len(r.Hits) == 0:
		r.Next = 0
		r.Notes = append(r.Notes, fmt.Sprintf("not even the first hit is within %d tokens: ask for more, or for smaller snippets", tokens))
	default:
		r.Notes = append(r.Notes, fmt.Sprintf("%d hits are left out to stay within %d tokens: from %d goes on", left, tokens, r.Next))
	}
}
