package ask

import (
	"fmt"
	"runtime"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
)

// Parallel says how the work of one query is spread over cores, or that a GPU does it. The zero
// value lets the search choose, and is exact.
//
// The lists are cut into partitions. Workers take partitions, answer the query on each with the
// request's algorithm, keep their k best, and these are merged in pairs. What a worker knows about
// the score to beat can help the others: that is the policy.
type Parallel struct {
	// Threads is the number of workers; 0 means one for each core. At most 64, or four for each
	// core, work.
	Threads int
	// Engine: Auto uses several cores only where that is faster, Multicore always, Sequential
	// never. GPU takes the device to which OpenGPU has brought the index; the fields below are
	// there for WAND and MaxScore alone.
	Engine engine.Kind
	// Partition is how the lists are cut.
	Partition Partition
	// Size of a partition: postings of the longest list, or documents for [Documents]; 0 chooses.
	Size int
	// Row is how many partitions a worker takes in a row, keeping its k best; then it
	// starts afresh. 0 means that it keeps them to the end.
	Row int
	// Policy is what workers tell each other about the score to beat.
	Policy Policy
	// Slack is by how many documents the lists of an [Adjusted] partition may begin before the
	// largest of their first documents. The thesis has 5.
	Slack int
	// Blocks say what the blocks of a GPU do.
	Blocks Blocks
}

// Blocks are choices of the thesis for WAND, MaxScore and BMW on a GPU. The zero value is what is
// fastest; all of them give the same result.
type Blocks struct {
	// Threads of a block: 32, 64 or 128; 0 means 32. One warp walks, all bring postings.
	Threads int
	// Slice is how many postings of a list are in shared memory at a time: 32, 64, 96 or 128, less
	// for more than 16 words; 0 chooses.
	Slice int
	// Insert lets heaps grow by insertion. Else a block collects its first k answers, then sorts
	// them to a heap.
	Insert bool
	// Start answers mode And by the algorithm itself, with a score to beat that begins with the sum
	// of all words' bounds, instead of intersecting lists.
	Start bool
}

// Check says what no block can be.
func (b *Blocks) Check() error {
	if b.Threads != 0 && b.Threads != 32 && b.Threads != 64 && b.Threads != 128 {
		return fmt.Errorf("blocks of %d threads: want 32, 64 or 128", b.Threads)
	}
	if b.Slice < 0 || b.Slice > 128 || b.Slice%32 != 0 {
		return fmt.Errorf("slices of %d postings: want 32, 64, 96 or 128", b.Slice)
	}
	return nil
}

// Exact says whether the result is that of one core, to the bit, whatever the threads.
func (p *Parallel) Exact() bool { return !CutsDocuments(p.Partition) && p.Policy != SharedHalf }

// Partition is a way to cut the lists of a query.
type Partition uint8

const (
	// Documents cuts into ranges of equally many documents. Exact; it needs no look at the
	// lists, and ranges that turn out to be more work are evened out by their number.
	Documents Partition = iota
	// Heterogeneous makes partition i begin behind the largest document that any list has
	// just before position i*m, and end where the next begins: exact, but partitions
	// differ in size, and much so if the lists do. (A list that is too short for position
	// i*m counts with its last document.)
	Heterogeneous
	// Homogeneous takes positions i*m to (i+1)*m of every list. All partitions are of the same
	// size, but the postings of a document may fall into different ones, so that scores are partial
	// and answers get lost: approximate.
	Homogeneous
	// Adjusted is homogeneous, but every list begins at its first document that is not before
	// the largest of the documents at positions i*m, less Slack, and takes as many from there. More
	// documents are complete, others are left out: approximate.
	Adjusted
)

var partitionNames = choice.New[Partition]("partition", "documents", "heterogeneous", "homogeneous", "adjusted")

func (p Partition) String() string { return partitionNames.Of(p) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (p Partition) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (p *Partition) UnmarshalText(name []byte) error { return partitionNames.Set(p, string(name)) }

// Partitions lists the names that ParsePartition takes.
func Partitions() []string { return partitionNames.List() }

// ParsePartition is the inverse of String.
func ParsePartition(name string) (Partition, error) { return partitionNames.Parse(name) }

// Policy is what the workers of a query tell each other about the score to beat.
type Policy uint8

const (
	// Early shares a score as soon as k answers reach it, whoever found them: a worker whose
	// own k best are full tells the worst of them, and all scores that were good enough
	// to be kept are counted in a common histogram, whose k-th largest is a
	// bound long before any worker alone has k. Exact.
	Early Policy = iota
	// Local shares nothing: every worker has its own score to beat. Exact.
	Local
	// SharedFull is the thesis' safe-read shared, sh-r: a worker tells its score to beat once it
	// has k answers; all read it at any time. Exact.
	SharedFull
	// SharedHalf is the thesis' safe-write-read shared, sh-wr: a worker tells the worst score of
	// its answers, and listens to the others, once it has k/2 of them. That score need not be
	// reached by k answers, so that some may be lost, and which may change from run to run:
	// approximate.
	SharedHalf
)

var policyNames = choice.New[Policy]("policy", "early", "local", "sh-r", "sh-wr")

func (p Policy) String() string { return policyNames.Of(p) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (p *Policy) UnmarshalText(name []byte) error { return policyNames.Set(p, string(name)) }

// Policies lists the names that ParsePolicy takes.
func Policies() []string { return policyNames.List() }

// ParsePolicy is the inverse of String.
func ParsePolicy(name string) (Policy, error) { return policyNames.Parse(name) }

// ParallelStats says how a search was spread over cores.
type ParallelStats struct {
	Threads    int       `json:"threads"`
	Partition  Partition `json:"partition"`
	Size       int       `json:"size"`
	Partitions int       `json:"partitions"`
	Policy     Policy    `json:"policy"`
	Exact      bool      `json:"exact"`
}

// Recall is the share of the exact answers that were found; 1 if there are none.
func Recall(found, exact []Hit) float64 {
	if len(exact) == 0 {
		return 1
	}
	docs := make(map[uint32]bool, len(found))
	for _, h := range found {
		docs[h.Doc] = true
	}
	n := 0
	for _, h := range exact {
		if docs[h.Doc] {
			n++
		}
	}
	return float64(n) / float64(len(exact))
}

// CheckParallel says what is wrong with p, which may be nil.
func CheckParallel(p *Parallel) error {
	switch {
	case p == nil:
		return nil
	case p.Threads < 0:
		return fmt.Errorf("threads = %d: want at least 1", p.Threads)
	case p.Engine == engine.GPU:
		return fmt.Errorf("engine gpu: a search over partitions runs on the CPU")
	case p.Partition > Adjusted:
		return fmt.Errorf("unknown partition %d", p.Partition)
	case p.Policy > SharedHalf:
		return fmt.Errorf("unknown policy %d", p.Policy)
	case p.Size < 0 || p.Row < 0 || p.Slack < 0:
		return fmt.Errorf("partition size %d, %d in a row, slack %d: want 0 or more", p.Size, p.Row, p.Slack)
	case p.Blocks != Blocks{}:
		return fmt.Errorf("options of blocks need engine gpu, not %v", p.Engine)
	}
	return nil
}

// ThreadsOf is the number of workers.
func ThreadsOf(p *Parallel) int {
	return Threads(p.Threads)
}

// Threads is the number of workers where n are asked for: 0 means one for each core. More than
// there can be use for are not made: each has memory of its own, and results do not depend on their
// number.
func Threads(n int) int {
	cores := runtime.GOMAXPROCS(0)
	if n <= 0 {
		return cores
	}
	return min(n, max(64, 4*cores))
}

// CutsDocuments says whether the postings of a document can fall into different partitions.
func CutsDocuments(p Partition) bool { return p >= Homogeneous }

// OnOne is how a worker answers a request alone: as asked for if the result depends on it.
func OnOne(p Parallel) *Parallel {
	if p.Exact() {
		return nil
	}
	p.Threads, p.Engine = 1, engine.Multicore
	return &p
}

// MayBeAlone says whether it is for the batch to decide if a request is cut.
func MayBeAlone(p *Parallel) bool { return p.Exact() && p.Engine != engine.Multicore }

// WantsGPU says whether a request is for the device.
func WantsGPU(p *Parallel) bool { return p != nil && p.Engine == engine.GPU }

// GPUStats says what the device did for a query.
type GPUStats struct {
	Items      int           `json:"items"`              // pieces of work whose postings were added up
	Candidates int           `json:"candidates"`         // documents that could have won at the time, or all if their scores were added up
	Rescored   int           `json:"rescored"`           // of those, scored exactly, and in a batch still good enough then
	Fallback   string        `json:"fallback,omitempty"` // why the CPU answered instead
	Time       time.Duration `json:"time_ns,omitempty"`  // on the device, if it was measured
}
