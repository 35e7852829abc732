package words

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

// Sequence has word numbers + 1, and zeroes for the ends of documents, in device memory. One stream
// appends texts to it.
type Sequence struct {
	items gpu.Buffer[uint32]
	state gpu.Buffer[uint64]
}

// State is the state of a sequence.
type State struct {
	Length    int64 // items
	Documents int64 // zeroes among them
	// Missed is the number of words of the last text that did not fit in the dictionary. If there
	// are any, neither that text nor any later one was appended.
	Missed int64
	// Huge says that a word has 16 MB or more, which no dictionary can hold.
	Huge bool
}

// StateWords is the number of 64-bit words of a state on the device.
const StateWords = 8

// The same order as in append.cu.
const (
	stateLength = iota
	stateMissed
	stateDocuments
	stateHuge
)

// NewSequence makes an empty sequence with room for the given number of items. A text has at most
// as many items as bytes.
func NewSequence(s *gpu.Stream, capacity int) (*Sequence, error) {
	q := new(Sequence)
	var err error
	if q.items, err = gpu.Alloc[uint32](s.Device(), capacity); err != nil {
		return nil, fmt.Errorf("%d words in device memory: %w", capacity, err)
	}
	if q.state, err = gpu.Alloc[uint64](s.Device(), StateWords); err == nil {
		err = q.Clear(s)
	}
	if err != nil {
		return nil, errors.Join(err, q.Free())
	}
	return q, nil
}

// Free frees the sequence.
func (q *Sequence) Free() error { return errors.Join(q.items.Free(), q.state.Free()) }

// Clear empties the sequence.
func (q *Sequence) Clear(s *gpu.Stream) error { return q.state.Zero(s) }

// Capacity returns the number of items that the sequence has room for.
func (q *Sequence) Capacity() int { return q.items.Len() }

// Items returns the items [from, to).
func (q *Sequence) Items(from, to int) gpu.Buffer[uint32] { return q.items.Slice(from, to) }

// State waits for the stream and returns the state.
func (q *Sequence) State(ctx context.Context, s *gpu.Stream) (State, error) {
	var w [StateWords]uint64
	if err := q.state.Download(ctx, s, w[:]); err != nil {
		return State{}, err
	}
	return ReadState(w[:]), nil
}

// CopyState starts a copy of the state to pinned memory, for ReadState. It gets the state after all
// work queued so far.
func (q *Sequence) CopyState(s *gpu.Stream, to gpu.Pinned[uint64]) error {
	return q.state.CopyOut(s, to)
}

// OnDevice returns the state in device memory, for kernels; see ReadState.
func (q *Sequence) OnDevice() gpu.Buffer[uint64] { return q.state }

// ReadState decodes a copied state.
func ReadState(w []uint64) State {
	return State{
		Length: int64(w[stateLength]), Documents: int64(w[stateDocuments]),
		Missed: int64(w[stateMissed]), Huge: w[stateHuge] != 0,
	}
}

// retry clears Missed, so that texts can be appended again.
func (q *Sequence) retry(s *gpu.Stream) error {
	return q.state.Slice(stateMissed, stateMissed+1).Zero(s)
}

// ErrHuge is an error of the text, not of the device.
var ErrHuge = errors.New("the corpus contains a word of 16 MB or more, which is too long for the GPU engine: use engine.Multicore")
