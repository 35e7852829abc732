package zstdlong

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/trials"
)

// sample returns data with repetitions at short and at long distances.
func sample(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for len(b) < size {
		switch n := r.IntN(1000); {
		case n == 0 && len(b) > 1<<16:
			from := r.IntN(len(b) - 1<<15)
			b = append(b, b[from:from+1<<14]...)
		default:
			b = strconv.AppendInt(append(b, " word"...), int64(n%64), 10)
		}
	}
	return b[:size]
}

func compressed(t testing.TB, b []byte, o ...zstd.EOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, o...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The output does not depend on the window or on how much of it is in memory.
func TestWindows(t *testing.T) {
	text := sample(trials.Of(6 << 20))
	for _, size := range []int{1 << 10, 1 << 17, 1 << 20, 4 << 20, 32 << 20} {
		packed := compressed(t, text, zstd.WithWindowSize(size), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
		packed = append(packed, packed...) // two frames
		for _, memory := range []int64{0, 1 << 20, 64 << 20} {
			r := NewReader(bytes.NewReader(packed), memory, t.TempDir())
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, append(text[:len(text):len(text)], text...)) {
				t.Fatalf("window of %d, %d in memory: %d bytes, %v; want the text twice, %d bytes", size, memory, len(got), err, 2*len(text))
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// References reach as far back as the window.
func TestFarReferences(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	far := make([]byte, 1<<20)
	r.Read(far)
	text := append(append(bytes.Clone(far), make([]byte, 60<<20/trials.Every(4))...), far...)
	packed := compressed(t, text, zstd.WithWindowSize(128<<20))
	if len(packed) > 1<<20+1<<16 {
		t.Fatalf("%d bytes compressed: the end does not refer to the beginning", len(packed))
	}
	d := NewReader(bytes.NewReader(packed), 1<<20, t.TempDir())
	defer d.Close()
	got, err := io.ReadAll(d)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v; want the text of %d", len(got), err, len(text))
	}
}

// Damaged streams give an error or the output of the other decoder, never a panic.
func FuzzDecoder(f *testing.F) {
	for _, size := range []int{1 << 10, 1 << 20} {
		f.Add(compressed(f, sample(100_000), zstd.WithWindowSize(size)))
	}
	other, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<24))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		r := NewReader(bytes.NewReader(packed), 1<<20, t.TempDir())
		defer r.Close()
		got, err := io.ReadAll(io.LimitReader(r, 1<<24))
		if err != nil || len(got) == 1<<24 {
			return
		}
		if want, err := other.DecodeAll(packed, nil); err == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
	})
}
