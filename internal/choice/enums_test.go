package choice_test

import (
	"encoding"
	"fmt"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/cluster"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	_ "github.com/collocate/collocate/text/encodings"
	"github.com/collocate/collocate/trec"
	"github.com/collocate/collocate/weigh"
	"github.com/collocate/collocate/words"
)

// named is what every enumeration of the public packages can do.
type named interface {
	comparable
	fmt.Stringer
	encoding.TextMarshaler
}

// reader is a pointer to an enumeration.
type reader[T any] interface {
	*T
	encoding.TextUnmarshaler
}

// checkNames checks the values of an enumeration, of which no is the first that has no name, and
// none is how that prints.
func checkNames[T named, P reader[T]](t *testing.T, none string, no T, values ...T) {
	t.Helper()
	var unknown T
	err := P(&unknown).UnmarshalText([]byte("no such name"))
	if err == nil {
		t.Errorf("%s: an unknown name: no error", none)
		return
	}
	for _, v := range values {
		name, bad := v.MarshalText()
		var back T
		if bad == nil {
			bad = P(&back).UnmarshalText(name)
		}
		if bad != nil || back != v || v.String() != string(name) || len(name) == 0 {
			t.Errorf("%T %v: written as %q and read as %v, %v", v, v, name, back, bad)
		}
		if !strings.Contains(err.Error(), string(name)) {
			t.Errorf("%T: the error of an unknown name does not list %s: %v", v, name, err)
		}
		kept := v
		if P(&kept).UnmarshalText([]byte("no such name")); kept != v {
			t.Errorf("%T: an unknown name changes %v to %v", v, v, kept)
		}
	}
	if got := no.String(); got != none {
		t.Errorf("a value without a name prints as %s, want %s", got, none)
	}
	if name, err := no.MarshalText(); err == nil {
		t.Errorf("%s is written as %s, want an error", none, name)
	}
}

// upTo returns the values below one.
func upTo[T ~int | ~uint8](n T) (values []T) {
	for v := T(0); v < n; v++ {
		values = append(values, v)
	}
	return values
}

// Every enumeration prints, writes and reads its names, refuses to write a value without one, and
// lists the names if it cannot read one.
func TestAllEnumerations(t *testing.T) {
	for _, check := range []func(){
		func() { n := bm25.LuceneLossy + 1; checkNames(t, "Variant(7)", n, upTo(n)...) },
		func() { n := cluster.Job(5); checkNames(t, "Job(5)", n, upTo(n)...) },
		func() { n := coloc.SGCTRows + 1; checkNames(t, "Algorithm(6)", n, upTo(n)...) },
		func() { n := coloc.Kernel(3); checkNames(t, "Kernel(3)", n, upTo(n)...) },
		func() { n := coloc.Adjust(2); checkNames(t, "Adjust(2)", n, upTo(n)...) },
		func() { n := coloc.Alternative(3); checkNames(t, "Alternative(3)", n, upTo(n)...) },
		func() { n := cooccur.Side(3); checkNames(t, "Side(3)", n, upTo(n)...) },
		func() { n := cooccur.Method(2); checkNames(t, "Method(2)", n, upTo(n)...) },
		func() { n := cooccur.Weighting(2); checkNames(t, "Weighting(2)", n, upTo(n)...) },
		func() { n := cooccur.Order(2); checkNames(t, "Order(2)", n, upTo(n)...) },
		func() { n := cooccur.PPMI + 1; checkNames(t, "Measure(6)", n, upTo(n)...) },
		func() { n := cooccur.Format(6); checkNames(t, "Format(6)", n, upTo(n)...) },
		func() { n := datagen.QueryClass(5); checkNames(t, "QueryClass(5)", n, upTo(n)...) },
		func() { n := dict.Kind(7); checkNames(t, "Kind(7)", n, upTo(n)...) },
		func() { n := engine.GPU + 1; checkNames(t, "Kind(4)", n, upTo(n)...) },
		func() { n := fields.Sparse + 1; checkNames(t, "Type(8)", n, upTo(n)...) },
		func() { n := points.Null(5); checkNames(t, "Null(5)", n, upTo(n)...) },
		func() { n := search.And + 1; checkNames(t, "Mode(2)", n, upTo(n)...) },
		func() { n := search.Tiles + 1; checkNames(t, "Algorithm(9)", n, upTo(n)...) },
		func() { n := search.Adjusted + 1; checkNames(t, "Partition(4)", n, upTo(n)...) },
		func() { n := search.SharedHalf + 1; checkNames(t, "Policy(4)", n, upTo(n)...) },
		func() { n := search.Asynchronous + 1; checkNames(t, "Schedule(3)", n, upTo(n)...) },
		func() { n := search.Bo1 + 1; checkNames(t, "Expansion(2)", n, upTo(n)...) },
		func() { n := search.Strategy(1 << 31); checkNames(t, "Strategy(2147483648)", n, 1, 2, 4, 1<<22) },
		func() { n := trec.QrelsFormat(5); checkNames(t, "QrelsFormat(5)", n, upTo(n)...) },
		func() { n := trec.TopicIDs(3); checkNames(t, "TopicIDs(3)", n, upTo(n)...) },
		func() { n := weigh.Format(6); checkNames(t, "Format(6)", n, upTo(n)...) },
		func() { n := weigh.Method(6); checkNames(t, "Method(6)", n, upTo(n)...) },
		func() { n := weigh.Unknown(3); checkNames(t, "Unknown(3)", n, upTo(n)...) },
		func() { n := words.Value + 1; checkNames(t, "Measure(16)", n, upTo(n)...) },
		func() { n := words.Keyness(4); checkNames(t, "Keyness(4)", n, upTo(n)...) },
		func() { n := text.Format(10); checkNames(t, "Format(10)", n, upTo(n)...) },
		func() { n := text.Encoding(200); checkNames(t, "Encoding(200)", n, upTo(text.Encoding(3))...) },
	} {
		check()
	}
}
