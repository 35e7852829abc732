package ask

import (
	"reflect"
	"strings"
	"testing"
)

// A sort has a field or several; what cannot be one is refused.
func TestParseSort(t *testing.T) {
	for s, want := range map[string]Sort{
		"year":          {Field: "year", Then: []Sort{}},
		"year:desc":     {Field: "year", Descending: true, Then: []Sort{}},
		"year:desc,tag": {Field: "year", Descending: true, Then: []Sort{{Field: "tag"}}},
		"a, b:asc,c:desc": {Field: "a",
			Then: []Sort{{Field: "b"}, {Field: "c", Descending: true}}},
	} {
		if got, err := ParseSort(s); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v %v, want %+v", s, got, err, want)
		}
	}
	for s, says := range map[string]string{"": "want FIELD", ",": "want FIELD", "a,": "want FIELD", "a:down": "want FIELD",
		"a,b,a:desc": "comes twice", "a,b,c,d,e,f,g,h,i": "at most 8"} {
		if _, err := ParseSort(s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %s", s, err, says)
		}
	}
}
