package main

import (
	"encoding"
	"fmt"
	"reflect"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// Every enumeration of the API marshals to distinct names, unmarshals them, and refuses others.
func TestPublicChoicesAreText(t *testing.T) {
	for _, last := range []fmt.Stringer{
		bm25.L, cooccur.Right, cooccur.Paper, cooccur.Count, cooccur.PPMI, cooccur.TSV, datagen.Extra,
		dict.Front, engine.GPU, fields.Stored, search.And, search.Tiles, search.Adjusted,
		search.SharedHalf, search.Asynchronous, text.JSON, weigh.None, weigh.Inverting, weigh.Drop,
	} {
		kind := reflect.TypeOf(last)
		seen := map[string]bool{}
		for n := range reflect.ValueOf(last).Convert(reflect.TypeFor[int]()).Int() + 1 {
			value := reflect.ValueOf(n).Convert(kind)
			name, err := value.Interface().(encoding.TextMarshaler).MarshalText()
			if err != nil || seen[string(name)] {
				t.Errorf("%v %d marshals to %q, %v: want a name of its own", kind, n, name, err)
			}
			seen[string(name)] = true
			back := reflect.New(kind)
			err = back.Interface().(encoding.TextUnmarshaler).UnmarshalText(name)
			if err != nil || back.Elem().Interface() != value.Interface() {
				t.Errorf("%v: %q unmarshals to %v, %v, want %v", kind, name, back.Elem(), err, value)
			}
		}
		if reflect.New(kind).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte("mauve")) == nil {
			t.Errorf("%v: unmarshalling an unknown name is no error", kind)
		}
	}
}
