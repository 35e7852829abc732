package device

// Some queries are decided by one word: it is mandatory and has few postings. Kernels that read all
// of these postings answer them (short.cuh): with a warp if there are at most 32, one per lane,
// with a block if there are more.

// As in short.cuh.
const (
	warpDF       = 32
	blockDF      = 2048
	shortThreads = 256
)

// shortBlocks returns the number of blocks of batch_short.
func (n *laneSpace) shortBlocks() int {
	const together = shortThreads / 32
	return n.blocks + (n.warps+together-1)/together
}
