// Package vecfile answers the question: which vectors does a file have?
//
// Read takes a .npy file of one or two dimensions (float64, float32, float16 or int8), a .fvecs
// file, whose vectors are each an int32 of their dimension and as many float32, or text: JSON
// arrays of numbers, one after the other. The first bytes of .npy and JSON tell the format; .fvecs
// is known by its name.
package vecfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/float16"
	"github.com/collocate/collocate/internal/npz"
)

// Limit bounds the bytes of the numbers of a file.
const Limit = 64 << 30

// Open reads the vectors of a file; - is in.
func Open(path string, in io.Reader) ([][]float32, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	list, err := Read(in, strings.HasSuffix(path, ".fvecs"))
	if err == nil && len(list) == 0 {
		err = errors.New("it has no vectors")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// Read reads vectors, all of the same dimension. fvecs says that they are in that format.
func Read(r io.Reader, fvecs bool) (list [][]float32, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	begin, _ := in.Peek(6)
	switch {
	case string(begin) == "\x93NUMPY":
		list, err = readArray(in)
	case fvecs:
		list, err = readFvecs(in)
	default:
		list, err = readJSON(in)
	}
	for i := range list {
		if err == nil && len(list[i]) != len(list[0]) {
			err = fmt.Errorf("vector %d has %d dimensions, and the first %d", i+1, len(list[i]), len(list[0]))
		}
	}
	return list, err
}

func readArray(r io.Reader) ([][]float32, error) {
	a, err := npz.ReadArray(r, Limit)
	if err != nil {
		return nil, err
	}
	rows, dim, width, err := shapeOf(a)
	if err != nil {
		return nil, err
	}
	all := appendNumbers(make([]float32, 0, rows*dim), a.Data[:rows*dim*width], width)
	list := make([][]float32, rows)
	for i := range list {
		list[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return list, nil
}

// shapeOf returns the rows and columns of an array, and the bytes of a number.
func shapeOf(a *npz.Array) (rows, dim, width int, err error) {
	rows = 1
	switch len(a.Shape) {
	case 1:
		dim = a.Shape[0]
	case 2:
		rows, dim = a.Shape[0], a.Shape[1]
	default:
		return 0, 0, 0, fmt.Errorf("an array of shape %v: want one row, or rows and columns", a.Shape)
	}
	if dim < 1 || dim > fields.MaxDim {
		return 0, 0, 0, fmt.Errorf("vectors of %d dimensions: want 1 to %d", dim, fields.MaxDim)
	}
	width = map[npz.Type]int{"<f8": 8, "<f4": 4, "<f2": 2, "|i1": 1}[a.Type]
	if width == 0 {
		return 0, 0, 0, fmt.Errorf("numbers of type %s: want float64, float32, float16 or int8", a.Type)
	}
	return rows, dim, width, nil
}

// appendNumbers appends the numbers of a row, of so many bytes each.
func appendNumbers(dst []float32, b []byte, width int) []float32 {
	for ; len(b) > 0; b = b[width:] {
		var x float32
		switch width {
		case 8:
			x = float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		case 4:
			x = math.Float32frombits(binary.LittleEndian.Uint32(b))
		case 2:
			x = float16.To32(binary.LittleEndian.Uint16(b))
		default:
			x = float32(int8(b[0]))
		}
		dst = append(dst, x)
	}
	return dst
}

func readFvecs(r io.Reader) (list [][]float32, err error) {
	var head [4]byte
	for total := int64(0); ; {
		if _, err := io.ReadFull(r, head[:]); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("vector %d: truncated", len(list)+1)
		}
		dim := int(int32(binary.LittleEndian.Uint32(head[:])))
		if dim < 1 || dim > fields.MaxDim {
			return nil, fmt.Errorf("vector %d has %d dimensions: want 1 to %d", len(list)+1, dim, fields.MaxDim)
		}
		if total += int64(4 * dim); total > Limit {
			return nil, fmt.Errorf("more than %d bytes of numbers", int64(Limit))
		}
		b := make([]byte, 4*dim)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, fmt.Errorf("vector %d: truncated", len(list)+1)
		}
		v := make([]float32, dim)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		list = append(list, v)
	}
}

func readJSON(r io.Reader) (list [][]float32, err error) {
	d := json.NewDecoder(r)
	for {
		var raw json.RawMessage
		if err := d.Decode(&raw); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("vector %d: %w: want a JSON array of numbers, .npy or .fvecs", len(list)+1, err)
		}
		if inner := bytes.TrimSpace(raw[1:]); raw[0] == '[' && bytes.HasPrefix(inner, []byte("[")) {
			var rows []json.RawMessage
			if err := json.Unmarshal(raw, &rows); err != nil {
				return nil, err
			}
			for _, row := range rows {
				if list, err = appendJSON(list, row); err != nil {
					return nil, err
				}
			}
			continue
		}
		if list, err = appendJSON(list, raw); err != nil {
			return nil, err
		}
	}
}

func appendJSON(list [][]float32, raw []byte) ([][]float32, error) {
	v, err := fields.ParseVector(nil, raw)
	if err == nil && len(v) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("vector %d: %w", len(list)+1, err)
	}
	return append(list, v), nil
}
