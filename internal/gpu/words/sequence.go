package words

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

// Sequence is word numbers + 1 and zeroes for the ends of documents, in device
// memory. Texts are appended to it by one stream.
type Sequence struct {
	items gpu.Buffer[uint32]
	state gpu.Buffer[uint64]
}

// State is what is known of a sequence.
type State struct {
	Length    int64 // items
	Documents int64 // zeroes among them
	// Missed is how many words of the last text found no place in the dictionary.
	// Then that text was not appended, nor was any after it.
	Missed int64
	// Huge says that a word has 16 MB or more, which no dictionary takes.
	Huge bool
}

// StateWords is the length of a state on the device.
const StateWords = 8

// As in append.cu.
const (
	stateLength = iota
	stateMissed
	stateDocuments
	stateHuge
)

// NewSequence makes an empty sequence with room for the given number of items. A text makes at
// most as many items as it has bytes.
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

// Free gives the memory back.
func (q *Sequence) Free() error { return errors.Join(q.items.Free(), q.state.Free()) }

// Clear empties the sequence.
func (q *Sequence) Clear(s *gpu.Stream) error { return q.state.Zero(s) }

// Capacity is how many items there is room for.
func (q *Sequence) Capacity() int { return q.items.Len() }

// Items are the items [from, to).
func (q *Sequence) Items(from, to int) gpu.Buffer[uint32] { return q.items.Slice(from, to) }

// State waits for the stream and returns the state.
func (q *Sequence) State(ctx context.Context, s *gpu.Stream) (State, error) {
	var w [StateWords]uint64
	if err := q.state.Download(ctx, s, w[:]); err != nil {
		return State{}, err
	}
	return ReadState(w[:]), nil
}

// CopyState starts a copy of the state to pinned memory, for ReadState: a look at
// the sequence as it is after all work queued so far.
func (q *Sequence) CopyState(s *gpu.Stream, to gpu.Pinned[uint64]) error {
	return q.state.CopyOut(s, to)
}

// OnDevice is the state's words where they are, for kernels; see ReadState.
func (q *Sequence) OnDevice() gpu.Buffer[uint64] { return q.state }

// ReadState makes sense of a state's words.
func ReadState(w []uint64) State {
	return State{
		Length: int64(w[stateLength]), Documents: int64(w[stateDocuments]),
		Missed: int64(w[stateMissed]), Huge: w[stateHuge] != 0,
	}
}

// retry lets texts be appended again after words were missed.
func (q *Sequence) retry(s *gpu.Stream) error {
	return q.state.Slice(stateMissed, stateMissed+1).Zero(s)
}

// ErrHuge is about the text, not the device.
var ErrHuge = errors.New("the corpus contains a word of 16 MB or more, which is too long for the GPU engine; use --engine multicore")
