//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/bytesize"
)

// peakOf returns the peak resident memory of a process.
func peakOf(s *os.ProcessState) bytesize.Size {
	unit := bytesize.Size(1024) // of Maxrss: kilobytes, on macOS bytes
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return bytesize.Size(s.SysUsage().(*syscall.Rusage).Maxrss) * unit
}

// unusual writes inputs that 'collocate generate' does not make: points of 20,000 kinds, a huge
// line, a decompression bomb, empty lines, lines of many or few distinct words, and unsorted IDs.
func (b *bench) unusual() error {
	err := b.create("KINDS.csv", func(w *bufio.Writer) error {
		w.WriteString("x,y,feature\n")
		for i := range uint32(100_000) {
			at := i * 2654435761
			fmt.Fprintf(w, "%d,%d,k%d\n", at%1000, at/1000%1000, i%20_000)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = b.create("HUGE", func(w *bufio.Writer) error {
		w.WriteString("short\n")
		for range 200_000_000 / 5 {
			w.WriteString("word ")
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = b.create("BOMB", func(w *bufio.Writer) error {
		z, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		letters := bytes.Repeat([]byte("a"), 1<<20)
		for range 500 {
			if _, err := z.Write(letters); err != nil {
				return err
			}
		}
		return z.Close()
	})
	if err != nil {
		return err
	}
	err = b.create("EMPTY", func(w *bufio.Writer) error {
		for range 10_000_000 {
			w.WriteByte('\n')
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Lines of many distinct words: half of them from a list of a thousand, and half that hardly
	// occur again.
	err = b.create("WORDS", func(w *bufio.Writer) error {
		x := uint32(1)
		for i := range uint32(b.words) {
			x = x*1664525 + 1013904223
			if x>>31 == 0 {
				fmt.Fprintf(w, "w%d", x>>8%1000)
			} else {
				fmt.Fprintf(w, "x%x", x>>8%(1<<20))
			}
			w.WriteByte(" \n"[i%12/11])
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Lines of few distinct words, half of them from a list of a hundred: sequences of several
	// words seldom occur twice.
	err = b.create("COMMON", func(w *bufio.Writer) error {
		x := uint32(1)
		for i := range uint32(b.common) {
			x = x*1664525 + 1013904223
			fmt.Fprintf(w, "t%d", x>>8%[]uint32{100, 20_000}[x>>31])
			w.WriteByte(" \n"[i%12/11])
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The IDs are not in byte order.
	return b.create("TSV", func(w *bufio.Writer) error {
		for i := range uint32(2_000_000) {
			fmt.Fprintf(w, "document-%08x\tword%d of some\n", i*2654435761, i%1000)
		}
		return nil
	})
}

func (b *bench) create(name string, fill func(*bufio.Writer) error) error {
	f, err := os.Create(filepath.Join(b.dir, name))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err := fill(w); err != nil {
		f.Close()
		return err
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
