package weigh

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/collocate/collocate/internal/gpu"
)

// feedStreams is the number of parts of the text that are copied to the device at a time. A single
// core copies only 4 GB/s while the others tokenise.
const feedStreams = 4

// textFeed copies text to the device on further streams of the card, one for each concurrent copy.
type textFeed struct {
	idle  chan *gpu.Stream
	under sync.WaitGroup // copies that were started and are not complete
}

// start returns a function that copies text to the range [from, to) of the card's text.
func (f *textFeed) start(c *card, from, to int, text []byte) (send func() error, err error) {
	if f.idle == nil {
		f.idle = make(chan *gpu.Stream, feedStreams)
		for range feedStreams {
			s, err := c.AddStream()
			if err != nil {
				return nil, err
			}
			f.idle <- s
		}
	}
	place := c.text.Slice(from, to)
	f.under.Add(1)
	return func() error {
		defer f.under.Done()
		s := <-f.idle
		err := c.text.put(s, place, text)
		f.idle <- s
		if err != nil {
			return fmt.Errorf("copy text to the GPU: %w", err)
		}
		return nil
	}, nil
}

// settle waits until all copies have arrived. No copy may be started meanwhile.
func (f *textFeed) settle(ctx context.Context) (err error) {
	f.under.Wait()
	for range len(f.idle) {
		s := <-f.idle
		err = errors.Join(err, s.Sync(ctx))
		f.idle <- s
	}
	return err
}
