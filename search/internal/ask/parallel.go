package ask

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
)

// Parallel says how the work of one query is spread over cores, or that a GPU does it. The zero
// value lets the search choose, and is exact.
//
// The lists are cut into partitions. Each worker takes partitions, evaluates the query on each with
// the request's algorithm and keeps its k best; these are merged in pairs. The policy says how
// workers share their thresholds.
type Parallel struct {
	// Threads is the number of workers; 0 means one per core. It is capped at 64 or four per core,
	// whichever is more.
	Threads int
	// Engine: Auto uses several cores only where that is faster, Multicore always, Sequential
	// never. GPU uses the device onto which OpenGPU has loaded the index; there, only WAND and
	// MaxScore use the fields below.
	Engine engine.Kind
	// Partition is how the lists are partitioned.
	Partition Partition
	// Size of a partition: postings of the longest list, or documents for [Documents]; 0 chooses.
	Size int
	// Row is the number of partitions after which a worker discards its k best. 0 means that it
	// keeps them to the end.
	Row int
	// Policy says how workers share the threshold.
	Policy Policy
	// Slack is the number of documents by which the lists of an [Adjusted] partition may begin
	// before the largest of their first documents; 0 means none, where the thesis uses 5.
	Slack int
	// Blocks are the options for thread blocks of a GPU.
	Blocks Blocks
}

// Blocks are options of the thesis for WAND, MaxScore and BMW on a GPU. The zero value is fastest;
// all give the same result.
type Blocks struct {
	// Threads is the number of threads per block: 32, 64 or 128; 0 means 32. One warp traverses the
	// lists, all load postings.
	Threads int
	// Slice is the number of postings per list in shared memory: 32, 64, 96 or 128, fewer for more
	// than 16 words; 0 chooses.
	Slice int
	// Insert builds heaps by insertion. Otherwise a block collects its first k answers, then sorts
	// them into a heap.
	Insert bool
	// Pairs merges two lists of answers at a time, in one launch for each round, as the thesis
	// does. Otherwise a launch merges up to 64.
	Pairs bool
	// Start evaluates mode And by the algorithm itself, with an initial threshold of the sum of all
	// words' bounds, instead of intersecting lists.
	Start bool
	// Compressed reads lists in the compressed blocks of the index, and decodes a block where it is
	// needed. Otherwise a list is expanded to document numbers of 4 bytes when it is first used.
	Compressed bool
}

// Check returns an error if an option is out of range.
func (b *Blocks) Check() error {
	if b.Threads != 0 && b.Threads != 32 && b.Threads != 64 && b.Threads != 128 {
		return Refuse("blocks of %d threads: want 32, 64 or 128", b.Threads)
	}
	if b.Slice < 0 || b.Slice > 128 || b.Slice%32 != 0 {
		return Refuse("slices of %d postings: want 32, 64, 96 or 128", b.Slice)
	}
	return nil
}

// Exact reports whether the result equals that of one core, to the bit, for any number of threads.
func (p *Parallel) Exact() bool { return !CutsDocuments(p.Partition) && p.Policy != SharedHalf }

// Partition is a way to partition the lists of a query.
type Partition uint8

const (
	// Documents cuts into ranges of equally many documents. It is exact and does not read the
	// lists. There are enough ranges for their different costs to even out.
	Documents Partition = iota
	// Heterogeneous makes partition i begin after the largest document that any list has just
	// before position i*m, and end where the next one begins. It is exact, but partitions differ in
	// size, and greatly so if the lists do. (A list too short for position i*m counts with its last
	// document.)
	Heterogeneous
	// Homogeneous takes positions i*m to (i+1)*m of every list. All partitions have the same size,
	// but the postings of a document may fall into different ones, so that scores are partial and
	// answers are lost: approximate.
	Homogeneous
	// Adjusted is like Homogeneous, but every list begins at its first document that is not before
	// the largest of the documents at positions i*m, minus Slack, and takes m postings from there.
	// More documents are complete, but others are left out: approximate.
	Adjusted
)

var partitionNames = choice.New[Partition]("partition", "documents", "heterogeneous", "homogeneous",
	"adjusted")

func (p Partition) String() string { return partitionNames.Of(p) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (p Partition) MarshalText() ([]byte, error) { return partitionNames.Text(p) }

// UnmarshalText is the inverse of MarshalText.
func (p *Partition) UnmarshalText(name []byte) error { return partitionNames.Set(p, string(name)) }

// Partitions lists the names that ParsePartition accepts.
func Partitions() []string { return partitionNames.List() }

// ParsePartition is the inverse of String.
func ParsePartition(name string) (Partition, error) { return named(partitionNames.Parse(name)) }

// Policy says how the workers of a query share the threshold.
type Policy uint8

const (
	// Early shares a threshold as soon as any k answers reach it, whoever found them. A worker that
	// has k answers publishes the worst of them, and all scores that entered a heap are counted in
	// a common histogram. Its k-th largest is a threshold long before any single worker has k
	// answers. Exact.
	Early Policy = iota
	// Local shares nothing: every worker has its own threshold. Exact.
	Local
	// SharedFull is the thesis' safe-read shared, sh-r: a worker publishes its threshold once it
	// has k answers; all read it at any time. Exact.
	SharedFull
	// SharedHalf is the thesis' safe-write-read shared, sh-wr: once a worker has k/2 answers, it
	// publishes the worst of their scores and reads the others'. Fewer than k answers may reach
	// that score, so some may be lost, and which ones may vary between runs: approximate.
	SharedHalf
)

var policyNames = choice.New[Policy]("policy", "early", "local", "sh-r", "sh-wr")

func (p Policy) String() string { return policyNames.Of(p) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (p Policy) MarshalText() ([]byte, error) { return policyNames.Text(p) }

// UnmarshalText is the inverse of MarshalText.
func (p *Policy) UnmarshalText(name []byte) error { return policyNames.Set(p, string(name)) }

// Policies lists the names that ParsePolicy accepts.
func Policies() []string { return policyNames.List() }

// ParsePolicy is the inverse of String.
func ParsePolicy(name string) (Policy, error) { return named(policyNames.Parse(name)) }

// ParallelStats says how a search was spread over cores.
type ParallelStats struct {
	Threads    int       `json:"threads"`    // number of workers
	Partition  Partition `json:"partition"`  // how the lists were partitioned
	Size       int       `json:"size"`       // of a partition: postings, or documents
	Partitions int       `json:"partitions"` // number of partitions
	Policy     Policy    `json:"policy"`     // how the workers shared the threshold
	Exact      bool      `json:"exact"`      // the result equals that of one core
}

// Recall is the fraction of the exact answers that were found; 1 if there are none.
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

// CheckParallel returns an error if p, which may be nil, is invalid.
func CheckParallel(p *Parallel) error {
	switch {
	case p == nil:
		return nil
	case p.Threads < 0:
		return Refuse("threads = %d: want at least 1", p.Threads)
	case p.Engine == engine.GPU:
		return Refuse("engine gpu: a search over partitions runs on the CPU")
	case p.Size < 0 || p.Row < 0 || p.Slack < 0:
		return Refuse("partition size %d, %d in a row, slack %d: want 0 or more", p.Size, p.Row,
			p.Slack)
	case p.Blocks != Blocks{}:
		return Refuse("options of blocks need engine gpu, not %v", p.Engine)
	}
	return nil
}

// ThreadsOf returns the number of workers.
func ThreadsOf(p *Parallel) int {
	return Threads(p.Threads)
}

// Threads returns the number of workers to use if n are requested; 0 means one per core. The number
// is capped, since each worker has its own memory and results do not depend on it.
func Threads(n int) int {
	cores := runtime.GOMAXPROCS(0)
	if n <= 0 {
		return cores
	}
	return min(n, max(64, 4*cores))
}

// CutsDocuments reports whether the postings of a document can fall into different partitions.
func CutsDocuments(p Partition) bool { return p >= Homogeneous }

// OnOne returns the options with which one worker answers a request alone. They are nil for exact
// options, since those do not change the result.
func OnOne(p Parallel) *Parallel {
	if p.Exact() {
		return nil
	}
	p.Threads, p.Engine = 1, engine.Multicore
	return &p
}

// MayBeAlone reports whether the batch may decide to leave a request to one worker.
func MayBeAlone(p *Parallel) bool { return p.Exact() && p.Engine != engine.Multicore }

// WantsGPU reports whether a request names the GPU.
func WantsGPU(p *Parallel) bool { return p != nil && p.Engine == engine.GPU }

// GPUStats describes the work of the device for a query.
type GPUStats struct {
	// Items is the number of work items whose postings were added up.
	Items int `json:"items"`
	// Candidates is the number of documents whose bound exceeded the threshold at the time.
	Candidates int `json:"candidates"`
	// Rescored is the number of candidates that were scored exactly.
	Rescored int `json:"rescored"`
	// Fallback is the reason why the CPU answered instead; "" if the device did.
	Fallback string `json:"fallback,omitempty"`
	// Time is the time on the device, if it was measured.
	Time time.Duration `json:"time_ns,omitempty"`
}

// GPUOptions say how an index is loaded onto a GPU. The zero value uses the first GPU and most of
// its memory.
type GPUOptions struct {
	// Device is the GPU and the memory to use there.
	Device engine.Device
	// Also names further devices that get a copy of the index and share the work. A device that is
	// named twice counts as two: each has a context of its own, with its own memory, streams and
	// errors. Then Device.Memory must leave memory for the others.
	Also []engine.Device
	// Progress, unless it is nil, is called with the number of postings that are on the device, and
	// of all.
	Progress func(done, total int64)
	// Log reports the choices of MapAll; nil means no reports.
	Log *slog.Logger
}

// GPUStage is a step of a batch on the device, with its time by the device's clock, or a step of
// bringing an index there, with its time by the host's.
type GPUStage struct {
	Name string // such as "score"
	Time time.Duration
}
