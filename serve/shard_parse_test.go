package serve

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/collocate/collocate/api"
)

// FuzzParsePlain compares parsePlain, which accepts the usual answers of shards, with
// encoding/json.
func FuzzParsePlain(f *testing.F) {
	usual, err := appendLine(nil, &shardAnswer{Documents: 7, Hits: []api.Hit{
		{Rank: 1, ID: "a b", Doc: 4294967295, Score: 7.4549327}, {Rank: 2, ID: "", Doc: 0, Score: 1e-9}}})
	if err != nil {
		f.Fatal(err)
	}
	none, err := appendLine(nil, &shardAnswer{Hits: []api.Hit{}})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{string(usual), string(none)} {
		if !new(shardAnswer).parsePlain(text) {
			f.Errorf("parsePlain does not accept %s", text)
		}
		f.Add(text)
	}
	for _, number := range []string{"01", "1.", ".5", "1e", "-0", "1e400", "1E+2", "+1", "1ee2", "0x1", "Inf", "1_0"} {
		f.Add(`{"documents":1,"hits":[{"rank":1,"id":"é","doc":0,"score":1}]}`)
		f.Add(`{"documents":1,"hits":[{"rank":1,"id":"a","doc":0,"score":` + number + `}]}`)
		f.Add(`{"documents":` + number + `,"hits":[]}`)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var fast, slow shardAnswer
		if !fast.parsePlain(text) {
			return
		}
		if err := json.Unmarshal([]byte(text), &slow); err != nil || !reflect.DeepEqual(fast, slow) {
			t.Errorf("parsePlain reads %q as %+v, encoding/json as %+v (%v)", text, fast, slow, err)
		}
	})
}
