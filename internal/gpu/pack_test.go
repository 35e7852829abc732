package gpu

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/internal/gpu/kernelsrc"
	"github.com/collocate/collocate/internal/gpu/ptx"
)

// TestPackAsDeclared packs arguments for every kernel of the project and compares with a C struct
// of the same members: each at the next multiple of its size.
func TestPackAsDeclared(t *testing.T) {
	root, err := kernelsrc.Root()
	if err != nil {
		t.Skip(err)
	}
	units, err := kernelsrc.Units(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range units {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(u.PTXPath())))
		if err != nil {
			t.Fatal(err)
		}
		m, err := ptx.Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", u.PTXPath(), err)
		}
		for _, entry := range m.Kernels {
			k := &Kernel{name: entry.Name, params: entry.Params, bytes: entry.ParamBytes}
			var args []Arg
			var want []byte
			for i, p := range entry.Params {
				value := uint64(i+1) * 0x0101010101010101
				args = append(args, Arg{value, p.Size})
				for len(want)%p.Size != 0 {
					want = append(want, 0)
				}
				want = append(want, binary.LittleEndian.AppendUint64(nil, value)[:p.Size]...)
			}
			got, err := k.pack(make([]byte, argBytes), args)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s: packed as %x, want %x (%v)", u.PTXPath(), entry.Name, got, want, err)
			}
			if len(args) > 0 {
				if _, err := k.pack(make([]byte, argBytes), args[1:]); err == nil {
					t.Errorf("%s accepted one argument too few", entry.Name)
				}
				if _, err := k.pack(make([]byte, entry.ParamBytes-1), args); err == nil {
					t.Errorf("%s accepted a buffer that is too short for its arguments", entry.Name)
				}
			}
		}
	}
}
