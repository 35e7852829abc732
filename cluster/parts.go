package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/collocate/collocate/internal/given"
)

// Part describes the output of a map of jobs weigh and index: a file or a folder, beside those of
// the other parts. A task that is retried may leave several; the one whose record reaches the merge
// counts.
type Part struct {
	Number    int    `json:"-"`             // from 0; set by MergeParts, from the record's key
	Of        int    `json:"of"`            // number of parts
	Name      string `json:"name"`          // file name in the folder of parts
	Documents int64  `json:"documents"`     // number of documents in the part
	Words     int64  `json:"words"`         // number of tokens in the part
	Bytes     uint64 `json:"bytes"`         // size of the file, or from the stamp of the index
	Sum       uint32 `json:"sum,omitempty"` // checksum from the stamp of the index; 0 for a file
}

// MapParts calls do for some parts of a corpus, with a file name for each, and writes a record for
// each part.
func MapParts(job Job, numbers []int, of int, do func(number int, name string) (Part, error), out io.Writer) (End, error) {
	task := newTask()
	w := newWriter(out, job.String(), "map", task)
	for _, n := range numbers {
		name := fmt.Sprintf("%05d-%s", n, task)
		p, err := do(n, name)
		if err != nil {
			return End{}, err
		}
		p.Of, p.Name = of, name
		raw, err := json.Marshal(&p)
		if err != nil {
			return End{}, err
		}
		w.end.Documents += p.Documents
		w.end.Words += p.Words
		if err := w.Write(kindFiles, int64(n), raw); err != nil {
			return End{}, err
		}
	}
	err := w.Close()
	return w.end, err
}

// parsePart parses the payload of a record f.
func parsePart(key int64, raw []byte) (Part, error) {
	var p Part
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(&p); err != nil || in.More() || p.Of < 1 || key < 0 || key >= int64(p.Of) ||
		p.Documents < 0 || p.Words < 0 || p.Name == "" || filepath.Base(p.Name) != p.Name || p.Name == ".." {
		return p, fmt.Errorf("part %d: %w", key, errPayload)
	}
	p.Number = int(key)
	return p, nil
}

// MergeParts lists the parts of a corpus. It returns an error if one is missing.
func MergeParts(ctx context.Context, job Job, streams []Input) (parts []Part, totals Totals, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, Totals{}, err
	}
	totals, err = merge(ctx, job, streams, nil, func(key int64, a *adder) error {
		p, err := parsePart(key, a.file)
		if err != nil {
			return err
		}
		if int64(len(parts)) != key || len(parts) > 0 && p.Of != parts[0].Of {
			return fmt.Errorf("part %d of %d comes after %d parts: some are missing, or of another job", key, p.Of, len(parts))
		}
		parts = append(parts, p)
		return nil
	})
	switch {
	case err != nil:
		return nil, totals, err
	case len(parts) == 0:
		return nil, totals, errors.New("no parts")
	case len(parts) != parts[0].Of:
		return nil, totals, fmt.Errorf("only %d parts of %d: the others are missing", len(parts), parts[0].Of)
	}
	return parts, totals, nil
}
