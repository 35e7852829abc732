package device

// Queries that one word decides, since it is needed and has few postings, are answered by kernels
// that look at all of these (short.cuh): by a warp if there is one for each lane, by a block if
// there are more.

// As in short.cuh.
const (
	fewDF        = 32
	someDF       = 2048
	shortThreads = 256
)

// blocks is how many do the work.
func (n *manyNeed) blocks() int {
	const together = shortThreads / 32
	return n.some + (n.few+together-1)/together
}
