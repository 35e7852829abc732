package device

// Some queries are decided by one word: it is mandatory and has few postings. Kernels that read all
// of these postings answer them (short.cuh): with a warp if there are at most 32, one per lane,
// with a block if there are more.

// As in short.cuh.
const (
	fewDF        = 32
	someDF       = 2048
	shortThreads = 256
)

// blocks returns the number of blocks to launch.
func (n *manyNeed) blocks() int {
	const together = shortThreads / 32
	return n.some + (n.few+together-1)/together
}
