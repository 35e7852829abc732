package fields

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/choice"
)

// MaxDim is the largest number of dimensions of a vector.
const MaxDim = 8192

// Metric is a way to compare two vectors. More similar ones have a higher similarity.
type Metric int

const (
	Cosine    Metric = iota // q·x / (|q||x|)
	Dot                     // q·x
	Euclidean               // 1 / (1 + |q - x|²)
)

var metricNames = choice.New[Metric]("metric", "cosine", "dot", "euclidean")

func (m Metric) String() string { return metricNames.Of(m) }

// MarshalText writes the name.
func (m Metric) MarshalText() ([]byte, error) { return metricNames.Text(m) }

// UnmarshalText reads a name.
func (m *Metric) UnmarshalText(name []byte) error { return metricNames.Set(m, string(name)) }

// Precision is that of the numbers of stored vectors.
type Precision int

const (
	Float32 Precision = iota // as given
	Float16                  // rounded to the nearest number of 16 bits, ties to even
	Int8                     // as given: whole numbers from -128 to 127
)

var precisionNames = choice.New[Precision]("precision", "float32", "float16", "int8")

func (p Precision) String() string { return precisionNames.Of(p) }

// MarshalText writes the name.
func (p Precision) MarshalText() ([]byte, error) { return precisionNames.Text(p) }

// UnmarshalText reads a name.
func (p *Precision) UnmarshalText(name []byte) error { return precisionNames.Set(p, string(name)) }

// vectorOption takes an option that only vector fields have.
func (f *Field) vectorOption(item string) bool {
	if n, err := strconv.Atoi(item); err == nil && f.Dim == 0 {
		f.Dim = n
		return true
	}
	if m, err := metricNames.Parse(item); err == nil {
		f.Metric = m
		return true
	}
	if p, err := precisionNames.Parse(item); err == nil {
		f.Precision = p
		return true
	}
	f.Optional = f.Optional || item == "optional"
	f.Many = f.Many || item == "many"
	return item == "optional" || item == "many"
}

// binaryVector begins the value of a vector that was not read from text. What follows are float32,
// the lowest byte first.
const binaryVector = "\x00f32"

// VectorValue returns a vector as a value of a field.
func VectorValue(v []float32) []byte {
	b := make([]byte, 0, len(binaryVector)+4*len(v))
	b = append(b, binaryVector...)
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// ParseVectors appends the numbers of a document's vectors to dst, one vector after the other. It
// is an error if they are none of the field: too many or too few, or CheckVector refuses one.
func (f *Field) ParseVectors(dst []float32, values Values) ([]float32, error) {
	from := len(dst)
	for _, v := range values {
		if !f.Many {
			var err error
			if dst, err = f.parseVector(dst, v); err != nil {
				return dst, err
			}
			continue
		}
		list, err := vectorList(v)
		if err != nil {
			return dst, err
		}
		for i, v := range list {
			if dst, err = f.parseVector(dst, v); err != nil {
				if len(list) > 1 {
					err = fmt.Errorf("vector %d of %d: %w", i+1, len(list), err)
				}
				return dst, err
			}
		}
	}
	switch n := (len(dst) - from) / f.Dim; {
	case n == 0 && !f.Optional:
		return dst, errors.New("there is no vector: give one, or declare the field optional")
	case n > 1 && !f.Many:
		return dst, fmt.Errorf("%d vectors: a document has one, unless the field is declared many", n)
	}
	return dst, nil
}

// parseVector appends the numbers of one vector of the field.
func (f *Field) parseVector(dst []float32, value []byte) ([]float32, error) {
	if !f.Many && isNested(value) {
		return dst, errors.New("a list of vectors: a document has one vector, unless the field is declared many")
	}
	from := len(dst)
	dst, err := ParseVector(dst, value)
	if err == nil {
		err = f.CheckVector(dst[from:])
	}
	return dst, err
}

// isNested reports whether a value is a JSON array whose first item is an array.
func isNested(value []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(value), []byte("["))
	return ok && bytes.HasPrefix(bytes.TrimSpace(rest), []byte("["))
}

// vectorList divides a JSON array of vectors. A vector alone is a list of one, an empty array one
// of none.
func vectorList(value []byte) ([]json.RawMessage, error) {
	if s := bytes.TrimSpace(value); !isNested(value) && string(s) != "[]" {
		return []json.RawMessage{value}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, fmt.Errorf("%s is not a list of vectors: want a JSON array of arrays of numbers", quoted(value))
	}
	return list, nil
}

// ParseVector appends the numbers of a value to dst: a JSON array of numbers, or what VectorValue
// made. A number that a float32 cannot represent is rounded; one that it cannot hold is refused.
func ParseVector(dst []float32, value []byte) ([]float32, error) {
	if len(value) >= len(binaryVector) && string(value[:len(binaryVector)]) == binaryVector {
		b := value[len(binaryVector):]
		if len(b)%4 != 0 {
			return dst, fmt.Errorf("a vector of %d bytes: want a multiple of 4", len(b))
		}
		for ; len(b) > 0; b = b[4:] {
			x := math.Float32frombits(binary.LittleEndian.Uint32(b))
			if !finite(x) {
				return dst, notFinite(len(dst), strconv.FormatFloat(float64(x), 'g', -1, 32))
			}
			dst = append(dst, x)
		}
		return dst, nil
	}
	return parseVectorJSON(dst, value)
}

func notFinite(place int, number string) error {
	return fmt.Errorf("number %d of the vector is %s: want a finite number", place+1, number)
}

func finite(x float32) bool { return math.Abs(float64(x)) <= math.MaxFloat32 }

func parseVectorJSON(dst []float32, b []byte) ([]float32, error) {
	from := len(dst)
	bad := func(at int) ([]float32, error) {
		return dst, fmt.Errorf("%s is not a vector: want a JSON array of numbers, such as [0.5, -1, 2e-3] (number %d, byte %d)",
			quoted(b), len(dst)-from+1, at+1)
	}
	at := 0
	blanks := func() {
		for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
			at++
		}
	}
	take := func(c byte) bool {
		if blanks(); at < len(b) && b[at] == c {
			at++
			return true
		}
		return false
	}
	if !take('[') {
		return bad(at)
	}
	for more := !take(']'); more; more = take(',') {
		blanks()
		start := at
		for at < len(b) && (b[at] >= '0' && b[at] <= '9' || b[at] == '-' || b[at] == '+' ||
			b[at] == '.' || b[at] == 'e' || b[at] == 'E') {
			at++
		}
		word := string(b[start:at])
		x, err := strconv.ParseFloat(word, 32)
		switch {
		case err != nil && math.IsInf(x, 0):
			return dst, notFinite(len(dst)-from, word+", which a float32 cannot hold")
		case err != nil:
			return bad(start)
		case len(dst)-from == MaxDim:
			return dst, fmt.Errorf("a vector of more than %d numbers", MaxDim)
		}
		dst = append(dst, float32(x))
	}
	if len(dst) > from && !take(']') {
		return bad(at)
	}
	if blanks(); at < len(b) {
		return bad(at)
	}
	return dst, nil
}

// The norms of vectors are bounded, so that products of two of them neither overflow nor vanish.
const (
	maxNorm = 1 << 60
	minNorm = 1.0 / (1 << 60)
)

// Norm returns the length of a vector: the square root of the sum of squares, in float64 from the
// first number to the last, rounded to float32.
func Norm(v []float32) float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x)) // no fused multiply-add
	}
	return float32(math.Sqrt(sum))
}

// CheckVector returns an error if a vector is none of the field: of another dimension, with a NaN
// or an infinity, too long or, under Cosine, zero, which has no direction.
func (f *Field) CheckVector(v []float32) error {
	if len(v) != f.Dim {
		return fmt.Errorf("a vector of %d dimensions: want %d", len(v), f.Dim)
	}
	for i, x := range v {
		switch {
		case !finite(x):
			return notFinite(i, strconv.FormatFloat(float64(x), 'g', -1, 32))
		case f.Precision == Int8 && (x != float32(math.Trunc(float64(x))) || x < -128 || x > 127):
			return fmt.Errorf("number %d of the vector is %v: the precision int8 wants whole numbers from -128 to 127", i+1, x)
		case f.Precision == Float16 && math.Abs(float64(x)) >= maxFloat16:
			return fmt.Errorf("number %d of the vector is %v: a float16 holds less than %d", i+1, x, maxFloat16)
		}
	}
	return f.checkNorm(Norm(v))
}

// CheckQuery is CheckVector for the vector of a query, which may have any precision.
func (f *Field) CheckQuery(v []float32) error {
	full := *f
	full.Precision = Float32
	return full.CheckVector(v)
}

func (f *Field) checkNorm(n float32) error {
	switch {
	case f.Metric == Cosine && n == 0:
		return fmt.Errorf("a zero vector has no direction, which the metric cosine compares")
	case n > 0 && n < minNorm:
		return fmt.Errorf("a vector of length %v: want 0 or at least %v", n, float32(minNorm))
	case n > maxNorm:
		return fmt.Errorf("a vector of length %v: want at most %v", n, float32(maxNorm))
	}
	return nil
}

// maxFloat16 is the smallest number that rounds to an infinity in 16 bits.
const maxFloat16 = 65520

// VectorField returns the number of the vector field of a name, or of the only one if the name is
// empty. The schema may be nil.
func (s *Schema) VectorField(name string) (int, error) { return s.One(Vector, name) }

// One returns the number of the field of a type, Vector or Sparse, with a name, or of the only one
// if the name is empty. The schema may be nil.
func (s *Schema) One(t Type, name string) (int, error) {
	what, such := "vectors", "meaning:vector:384:optional"
	if t == Sparse {
		what, such = "weighted tokens", "tokens:sparse"
	}
	if s == nil {
		return 0, fmt.Errorf("the documents have no fields: declare one for %s, such as %s", what, such)
	}
	list := s.Of(t)
	names := s.Names(func(f *Field) bool { return f.Type == t })
	switch at := slices.Index(names, name); {
	case len(list) == 0:
		return 0, fmt.Errorf("no field has the type %v: declare one, such as %s", t, such)
	case name == "" && len(list) > 1:
		return 0, fmt.Errorf("name a %v field: %s", t, strings.Join(names, " or "))
	case name == "":
		return list[0], nil
	case at < 0:
		return 0, fmt.Errorf("unknown %v field %q: want %s", t, name, strings.Join(names, " or "))
	default:
		return list[at], nil
	}
}
