package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Array is an array as read.
type Array struct {
	Type  Type
	Shape []int
	Data  []byte // little-endian
}

// maxArray limits the bytes of an array if the caller sets no lower limit.
const maxArray = 1 << 40

// Read reads the named arrays of an archive; missing ones are left out. An array of more than limit
// bytes is an error.
func Read(r io.ReaderAt, size, limit int64, names ...string) (map[string]*Array, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	all := map[string]*Array{}
	for _, name := range names {
		f, err := z.Open(name + ".npy")
		if err != nil {
			continue
		}
		a, err := ReadArray(f, min(limit, maxArray))
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		all[name] = a
	}
	return all, nil
}

var headerField = regexp.MustCompile(`'(descr|fortran_order|shape)'\s*:\s*('[^']*'|True|False|\([0-9, ]*\))`)

// ReadArray reads one array in the format of a .npy file. More than limit bytes are an error.
func ReadArray(r io.Reader, limit int64) (*Array, error) {
	a, total, err := readHead(r, limit)
	if err != nil {
		return nil, err
	}
	// The header of a truncated file promises more bytes than there are.
	a.Data, err = io.ReadAll(io.LimitReader(r, total))
	if err == nil && int64(len(a.Data)) != total {
		err = fmt.Errorf("truncated: %d bytes of %d", len(a.Data), total)
	}
	return a, err
}

// View is ReadArray for a file in memory, of which the array's data are a part.
func View(b []byte) (*Array, error) {
	r := bytes.NewReader(b)
	a, total, err := readHead(r, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if a.Data = b[len(b)-r.Len():]; total < 0 || int64(len(a.Data)) < total {
		return nil, fmt.Errorf("truncated: %d bytes of %d", len(a.Data), total)
	}
	a.Data = a.Data[:total]
	return a, nil
}

// readHead reads the bytes before an array's data, and returns how many these are.
func readHead(r io.Reader, limit int64) (*Array, int64, error) {
	var begin [10]byte
	if _, err := io.ReadFull(r, begin[:]); err != nil || string(begin[:6]) != "\x93NUMPY" {
		return nil, 0, errors.New("not a NumPy array")
	}
	n := int(binary.LittleEndian.Uint16(begin[8:]))
	if begin[6] >= 2 { // a longer header
		var more [2]byte
		if _, err := io.ReadFull(r, more[:]); err != nil {
			return nil, 0, err
		}
		n |= int(binary.LittleEndian.Uint16(more[:])) << 16
	}
	if n > 1<<20 {
		return nil, 0, fmt.Errorf("header of %d bytes: want at most 1 MB", n)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, 0, err
	}
	a := &Array{}
	fields := 0
	for _, m := range headerField.FindAllStringSubmatch(string(head), -1) {
		fields++
		switch m[1] {
		case "descr":
			a.Type = Type(strings.Trim(m[2], "'"))
		case "fortran_order":
			if m[2] == "True" {
				return nil, 0, errors.New("array in Fortran order: save it in C order")
			}
		case "shape":
			for _, s := range strings.Split(strings.Trim(m[2], "()"), ",") {
				if s = strings.TrimSpace(s); s == "" {
					continue
				}
				d, err := strconv.Atoi(s)
				if err != nil {
					return nil, 0, err
				}
				a.Shape = append(a.Shape, d)
			}
		}
	}
	if fields != 3 || len(a.Type) < 3 {
		return nil, 0, fmt.Errorf("header %q: want that of a NumPy array", head)
	}
	width, err := strconv.Atoi(string(a.Type[2:]))
	if err != nil || width < 0 || width > 1<<24 || a.Type[0] == '>' {
		return nil, 0, fmt.Errorf("numbers of type %s are not supported", a.Type)
	}
	total := int64(width)
	if a.Type[1] == 'U' {
		total *= 4
	}
	for _, d := range a.Shape {
		if d > 0 && total > limit/int64(d) {
			return nil, 0, fmt.Errorf("array of shape %v and type %s: want at most %d bytes", a.Shape, a.Type, limit)
		}
		total *= int64(d)
	}
	if total > limit {
		return nil, 0, fmt.Errorf("array of %d bytes: want at most %d", total, limit)
	}
	return a, total, nil
}

// Len returns the number of elements.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// Floats returns the elements as floating-point numbers.
func (a *Array) Floats() ([]float64, error) {
	out := make([]float64, a.Len())
	le := binary.LittleEndian
	for i := range out {
		switch a.Type {
		case "<f8":
			out[i] = math.Float64frombits(le.Uint64(a.Data[8*i:]))
		case "<f4":
			out[i] = float64(math.Float32frombits(le.Uint32(a.Data[4*i:])))
		case "<i8":
			out[i] = float64(int64(le.Uint64(a.Data[8*i:])))
		case "<i4":
			out[i] = float64(int32(le.Uint32(a.Data[4*i:])))
		case "<u4":
			out[i] = float64(le.Uint32(a.Data[4*i:]))
		default:
			return nil, fmt.Errorf("want numbers, got the type %s", a.Type)
		}
	}
	return out, nil
}

// Ints returns the elements as integers.
func (a *Array) Ints() ([]int64, error) {
	out := make([]int64, a.Len())
	le := binary.LittleEndian
	for i := range out {
		switch a.Type {
		case "<i8":
			out[i] = int64(le.Uint64(a.Data[8*i:]))
		case "<i4":
			out[i] = int64(int32(le.Uint32(a.Data[4*i:])))
		default:
			return nil, fmt.Errorf("want integers, got the type %s", a.Type)
		}
	}
	return out, nil
}
