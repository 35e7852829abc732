package dict

import (
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

// Launch describes how the papers' look-up kernel is launched: thread i of N looks up the words i,
// i+N, i+2N and so on, without a cache. The zero value is useful.
type Launch struct {
	Threads int // threads per block, up to 1024; 0 means 512
	Blocks  int // blocks per multiprocessor; 0 means as many as run at the same time
	// Compute decodes blocks of bits by computation instead of by the papers' table of 64 KB.
	Compute bool
}

// SetLaunch sets how look-ups in an xbw-paper are launched. It has no effect on other kinds.
func (g *GPU) SetLaunch(l Launch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.on.launch = l
	for _, o := range g.others {
		o.SetLaunch(l)
	}
}

// paperKernels are the papers' kernels, for an stt and the kinds with RRR.
type paperKernels struct {
	look   *gpu.Kernel
	shared int // bytes of shared memory of look
	// compute decodes by computation; it is nil for an stt, which has nothing to decode.
	compute *gpu.Kernel
}

func (o *onDevice) loadPaper(dev *gpu.Device, k Kind) (err error) {
	p := &o.paper
	switch k {
	case STT:
		p.look, err = dev.Kernel(paperSource, "dict_paper_stt")
	case XBW, XBWPaper:
		var err2 error
		p.look, err = dev.Kernel(paperSource, "dict_paper_table")
		p.compute, err2 = dev.Kernel(paperSource, "dict_paper_compute")
		p.shared = decodeBytes
		if err = errors.Join(err, err2); err == nil {
			err = p.look.AllowShared(p.shared)
		}
	}
	return err
}

func (o *onDevice) lookUpAsPaper(s *gpu.Stream, text gpu.Buffer[uint8], words gpu.Buffer[uint64],
	ids gpu.Buffer[uint32], l Launch) error {
	kernel, shared := o.paper.look, o.paper.shared
	if l.Compute {
		kernel, shared = o.paper.compute, 0
	}
	if l.Threads == 0 {
		l.Threads = lookUpThreads
	}
	switch {
	case kernel == nil:
		return errors.New("look up as in the papers: the papers have no kernel for this kind of " +
			"dictionary or launch")
	case l.Threads < 1 || l.Threads > 1024 || l.Blocks < 0:
		return fmt.Errorf("look up with %d threads in a block, %d blocks: want 1 to 1024, and 0 "+
			"(default) or more", l.Threads, l.Blocks)
	}
	if err := room(words, ids); err != nil || words.Len() == 0 {
		return err
	}
	if l.Blocks == 0 {
		n, err := kernel.Occupancy(l.Threads, shared)
		if err != nil {
			return err
		}
		l.Blocks = max(1, n)
	}
	blocks := min((words.Len()+l.Threads-1)/l.Threads, l.Blocks*s.Device().Info().Multiprocessors)
	return s.Launch(kernel, gpu.GridShared(blocks, l.Threads, shared),
		o.arguments(text, words, ids, gpu.Null(), 0, 1)...)
}
