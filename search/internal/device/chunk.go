package device

import (
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
)

// gpuChunk is some requests of a batch, with their results. Chunks are reused.
type gpuChunk struct {
	first    int64 // the number of its first request
	requests []ringRequest
	copied   bool    // the requests are no longer needed in the ring
	where    []int32 // the number of each request in the chunk, if they were sorted; else nil
	resolved []resolvedRequest
	terms    [][]resolvedTerm // of resolved, by block
	made     batchPart
	kept     []*ask.Result // see batchPart
	done     chan struct{}
	answers  atomic.Int64 // calls of use, if assertions are on

	mu  sync.Mutex
	bad int // the first request without a result
	err error
}

var gpuChunks = sync.Pool{New: func() any { return &gpuChunk{done: make(chan struct{}, 1)} }}

// end returns the number of the request after its last.
func (c *gpuChunk) end() int64 { return c.first + int64(len(c.requests)) }

// makeBy sets the part that takes the results.
func (c *gpuChunk) makeBy(p batchPart) { c.made, c.kept = p, p.kept() }

// use keeps a result or maps it, or records its error.
//
// Precondition: i is a request of the chunk for which use was not called yet.
func (c *gpuChunk) use(i int, found *ask.Result, err error) {
	if assert.On {
		c.answers.Add(1)
		if i < 0 || i >= len(c.requests) || c.kept != nil && c.kept[c.at(i)] != nil {
			assert.Fail("a request is answered twice, or in a chunk to which it does not belong")
		}
	}
	i = c.at(i)
	if c.kept != nil && err == nil {
		c.kept[i] = found
		return
	}
	c.make(i, found, err)
}

// at returns the number in the chunk of the i-th request as they are sorted.
func (c *gpuChunk) at(i int) int {
	if c.where == nil {
		return i
	}
	return int(c.where[i])
}

func (c *gpuChunk) make(i int, found *ask.Result, err error) {
	if err == nil {
		err = c.made.make(i, found)
	}
	if err != nil {
		c.failAt(i, err)
	}
}

// fail records an error of a request. Only the one of the first request is reported.
func (c *gpuChunk) fail(i int, err error) {
	c.failAt(c.at(i), err)
}

func (c *gpuChunk) failAt(i int, err error) {
	c.mu.Lock()
	if i < c.bad {
		c.bad, c.err = i, err
	}
	c.mu.Unlock()
}

// answered wakes the goroutine that waits for the chunk.
//
// Precondition: use was called once for each request, unless the chunk failed.
func (c *gpuChunk) answered() {
	if assert.On {
		c.mu.Lock()
		if c.err == nil && c.answers.Load() != int64(len(c.requests)) {
			assert.Fail("a chunk is done, but not every request was answered once")
		}
		c.mu.Unlock()
	}
	c.done <- struct{}{}
}

// free returns the chunk to the pool.
func (c *gpuChunk) free() {
	c.made, c.kept, c.err, c.where = nil, nil, nil, nil
	gpuChunks.Put(c)
}

// answerSpace estimates the space for the answers of a request, from which follows how many
// requests a chunk can have.
type answerSpace struct {
	maxK   atomic.Int64 // largest k so far
	recent atomic.Int64 // recent mean number of answers per request; 0: not known yet
}

// perRequest returns what the largest k allows or, if recent requests took less, somewhat more than
// these took.
func (a *answerSpace) perRequest() int {
	most := laneRoom(min(max(int(a.maxK.Load()), 10), gpuSmallK))
	if recent := int(a.recent.Load()); recent > 0 {
		most = min(most, recent+recent/recentSpare+laneRoom(10))
	}
	return most
}

// took records the number of answers of some requests.
func (a *answerSpace) took(requests, answers int) {
	a.recent.Store(max(1, int64(answers/requests), a.recent.Load()*recentKept/8))
}
