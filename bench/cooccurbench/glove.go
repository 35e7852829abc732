package cooccurbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/collocate/collocate/cooccur"
)

// glove runs Stanford's programs one after the other, as their demo does, with all words and their
// default memory. Their output goes to files or is discarded; temporary files are written anyway.
func (m *measurement) glove(ctx context.Context, write bool) error {
	vocabCount, matrix, err := FindGloVe()
	if err != nil {
		return err
	}
	vocab, out := filepath.Join(m.dir, "glove-vocab.txt"), os.DevNull
	if write {
		out = filepath.Join(m.dir, "glove-cooccurrence.bin")
	}
	weighting := "1"
	if m.Weighting == cooccur.Count {
		weighting = "0"
	}
	if err := m.program(ctx, vocab, vocabCount, "-verbose", "0", "-min-count", "1"); err != nil {
		return err
	}
	err = m.program(ctx, out, matrix, "-verbose", "0", "-symmetric", "1", "-window-size", strconv.Itoa(m.row.Window),
		"-distance-weighting", weighting, "-vocab-file", vocab, "-overflow-file",
		filepath.Join(m.dir, "glove-overflow"))
	if err != nil {
		return err
	}
	words, err := os.ReadFile(vocab)
	m.row.Distinct = int64(bytes.Count(words, []byte("\n")))
	if info, serr := os.Stat(out); serr == nil && write {
		m.row.Entries = info.Size() / 16
	}
	return err
}

// program runs a program on the corpus.
func (m *measurement) program(ctx context.Context, out, name string, args ...string) (err error) {
	in, err := os.Open(m.path)
	if err != nil {
		return err
	}
	defer in.Close()
	to, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, to, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.200s", name, err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}
