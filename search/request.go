package search

import (
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/device"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/tree"
)

// A request and its result. The types are defined with the engines that read and fill them. Where
// one of them is a struct, its comment here shows the fields.
type (
	// Request is a query and how to answer it. Only Text, Words or Query must be given.
	//
	//	type Request struct {
	//		Text      string    // plain words, cut by the index's analyzer; no operators
	//		Words     []Word    // used instead of Text if there are any
	//		Query     query.Node // used instead of both: phrases, filters, ... as of query.Parse
	//		K         int       // number of answers; 0 means 10
	//		From      int       // how many of the best are left out, for pages
	//		Mode      Mode      // Or or And; 0 means Or
	//		Algorithm Algorithm // all give the same result; 0 means Auto
	//		Trace     bool      // keep how the threshold rose, in Stats.Thresholds
	//		Count     bool      // wants Result.Total
	//		AtLeast   float32   // documents with lower scores may be missing; 0 means none may
	//		Patterns  *[]Pattern // for a shard: counts of patterns in the whole index
	//		Model     Model     // gives the scores; nil means BM25{}
	//		Parallel  *Parallel // cores or a GPU; nil means one core
	//		Within    *Within   // documents that may be answers; nil means all
	//		Facets    []Facet   // counts of values that the answers have
	//		Sort      *Sort     // by a field, not by score
	//		Expand    *Expand   // adds words of the best documents
	//		Proximity *Proximity // neighbours in the text count more
	//	}
	Request = ask.Request
	// Word is a word of a query, as the index has it.
	//
	//	type Word struct {
	//		Text   string
	//		Weight float64 // factor of its scores; 0 means 1
	//	}
	Word = ask.Word
	// Mode says which documents are answers: those with any word (Or) or with all (And).
	Mode = ask.Mode
	// Algorithm is one of those in the package comment.
	Algorithm = ask.Algorithm
	// Result is what a request found.
	//
	//	type Result struct {
	//		Hits  []Hit // best first
	//		Total int64 // of all answers, if Request.Count wants it
	//		Facets []FacetCounts // what Request.Facets wants
	//		Keys  []SortKey // of the hits, if Request.Sort orders them
	//		Expanded []Word // what was searched for, if Request.Expand added words
	//		Stats Stats
	//	}
	Result = ask.Result
	// Hit is an answer.
	//
	//	type Hit struct {
	//		Doc   uint32 // the document's number in the index
	//		Score float32
	//	}
	Hit = ask.Hit
	// Stats counts the work that a search had to do.
	//
	//	type Stats struct {
	//		Algorithm  Algorithm      // the one that was asked for, or that Auto chose
	//		Strategy   Strategy       // the one that it took, if it has several
	//		Words      int            // of the query, as far as the index knows them
	//		Postings   int64          // in the lists of these words
	//		Blocks     int64          // in which the postings are stored
	//		Scored     int64          // postings that were scored
	//		Decoded    int64          // postings in blocks that were unpacked
	//		Skipped    int64          // blocks that were not
	//		Entered    int64          // documents that were among the k best, for good or not
	//		Pruned     bool           // the index is pruned: better documents may be missing
	//		Thresholds []Threshold    // the score to beat over time, with Request.Trace
	//		Parallel   *ParallelStats // how cores shared the work; nil if one did it
	//		GPU        *GPUStats      // what the device did; nil if nothing
	//	}
	Stats = ask.Stats
	// Strategy is what an algorithm took of its plan, for Stats, such as or-guess.
	Strategy = ask.Strategy
	// Within limits answers to some documents.
	//
	//	type Within struct {
	//		Sets []*docset.Set // one for each segment of the index; nil stands for all documents
	//	}
	Within = ask.Within
	// Facet asks how many answers have each value of a field. Its fields are Field, Step (of
	// ranges: 10, or year, month or day) and N (values to tell; 0 means 10, [AllValues] all).
	Facet = ask.Facet
	// FacetCounts is the answer: Field, Values and how many are Distinct.
	FacetCounts = ask.FacetCounts
	// FacetValue has a Value, how many Docs have it, and a Query that finds them.
	FacetValue = ask.FacetValue
	// Sort orders answers by the values of a Field, Descending or not, those without one last.
	Sort = ask.Sort
	// SortKey is the place of an answer in the order of a Sort, whose Compare orders them.
	SortKey = ask.SortKey
	// Expand adds words to a query that the best documents have. Its fields are Method ([RM3] or
	// [Bo1]), Docs and Terms, how many of each, and Weight, that of the query itself in RM3.
	Expand = ask.Expand
	// Expansion is a way to choose and weigh the words that Expand adds.
	Expansion = ask.Expansion
	// Proximity lets neighbours in a query count more where they are neighbours in a document. Its
	// fields are the weights Words, Ordered and Unordered, and the Window of the last. The zero
	// value is [SDM].
	Proximity = ask.Proximity
	// Part says what a part of a query's tree gave to a document, for Explanation.
	//
	//	type Part struct {
	//		Query     string  // the part, in the language of package query
	//		Role      string  // must, not or filter
	//		Documents int     // that it matches, of all
	//		Matches   bool    // this one
	//		TF        uint32  // how often it occurs there
	//		Weight    float64 // of a word, phrase or pattern that scores
	//		Score     float32 // what it adds
	//		Parts     []Part
	//	}
	Part = tree.Part
	// Threshold is a point of Stats.Thresholds: from then on only higher scores could enter.
	//
	//	type Threshold struct {
	//		Entered int64 // how many documents had been among the k best
	//		Doc     uint32
	//		Score   float32
	//	}
	Threshold = ask.Threshold
)

// MaxK is the largest number of answers that can be asked for.
const MaxK = ask.MaxK

// ErrRequest is in every error for which the request is to blame, such as a phrase asked of an
// index without positions: errors.Is(err, ErrRequest).
var ErrRequest = ask.ErrRequest

// Or wants any of the words, And all of them.
const (
	Or  = ask.Or
	And = ask.And
)

// ParseMode takes "or" and "and".
func ParseMode(name string) (Mode, error) { return ask.ParseMode(name) }

// The expansions: the relevance model RM3 as Anserini has it, and Bo1 as Terrier has it.
const (
	RM3 = ask.RM3
	Bo1 = ask.Bo1
)

// Expansions lists the names that ParseExpand takes.
func Expansions() []string { return ask.Expansions() }

// ParseExpand reads rm3 or bo1, with parameters or not: rm3:docs=10,terms=10,weight=0.5.
func ParseExpand(s string) (*Expand, error) { return ask.ParseExpand(s) }

// SDM is the sequential dependence model with its usual weights .85, .1 and .05, and 8 words.
func SDM() *Proximity { return ask.SDM() }

// ParseProximity reads sdm, or sdm:0.85,0.1,0.05.
func ParseProximity(s string) (*Proximity, error) { return ask.ParseProximity(s) }

// AllValues as the N of a Facet wants every value, as MergeFacets does.
const AllValues = ask.AllValues

// MergeFacets adds up what several indexes with one schema have counted, each for all values: the
// counts of an index that has the documents of all.
func MergeFacets(schema *fields.Schema, want []Facet, parts ...[]FacetCounts) ([]FacetCounts, error) {
	return tree.MergeFacets(schema, want, parts...)
}

// ParseFacet reads FIELD, with /STEP and :N behind it or not.
func ParseFacet(s string) (Facet, error) { return ask.ParseFacet(s) }

// ParseSort reads FIELD, FIELD:asc or FIELD:desc.
func ParseSort(s string) (*Sort, error) { return ask.ParseSort(s) }

// Auto chooses by the lists and k; the others are described in the package comment. Tiles is the
// GPU's own, and its default.
const (
	Auto       = ask.Auto
	Exhaustive = ask.Exhaustive
	TAAT       = ask.TAAT
	MaxScore   = ask.MaxScore
	WAND       = ask.WAND
	BMW        = ask.BMW
	VBMW       = ask.VBMW
	BMM        = ask.BMM
	Tiles      = ask.Tiles
)

// Algorithms lists the names that ParseAlgorithm takes.
func Algorithms() []string { return ask.Algorithms() }

// ParseAlgorithm is the inverse of Algorithm.String.
func ParseAlgorithm(name string) (Algorithm, error) { return ask.ParseAlgorithm(name) }

// How one request is spread over cores, or that a GPU answers it.
type (
	// Parallel says how the work of one query is spread over cores, or that a GPU does it. The
	// zero value lets the search choose, and is exact.
	//
	//	type Parallel struct {
	//		Threads   int         // workers; 0 means one for each core
	//		Engine    engine.Kind // Auto: several cores only where that is faster
	//		Partition Partition   // how the lists are cut
	//		Size      int         // of a partition: postings, or documents; 0 chooses
	//		Row       int         // partitions before a worker's k best start afresh; 0: never
	//		Policy    Policy      // what workers tell each other about the score to beat
	//		Slack     int         // documents by which an Adjusted partition may begin early
	//		Blocks    Blocks      // what the blocks of a GPU do
	//	}
	Parallel = ask.Parallel
	// Blocks are choices for WAND, MaxScore and BMW on a GPU. The zero value is fastest, and all
	// give the same result.
	//
	//	type Blocks struct {
	//		Threads int  // of a block: 32, 64 or 128; 0 means 32
	//		Slice   int  // postings of a list in shared memory: 32 to 128; 0 chooses
	//		Insert  bool // heaps grow by insertion, not by sorting the first k answers
	//		Start   bool // mode And by a first score to beat, not by intersection
	//	}
	Blocks = ask.Blocks
	// Partition is a way to cut the lists of a query into pieces for workers.
	Partition = ask.Partition
	// Policy is what the workers of a query tell each other about the score to beat.
	Policy = ask.Policy
	// ParallelStats says how a search was spread over cores.
	//
	//	type ParallelStats struct {
	//		Threads    int
	//		Partition  Partition
	//		Size       int // of a partition
	//		Partitions int // how many
	//		Policy     Policy
	//		Exact      bool // the result is that of one core
	//	}
	ParallelStats = ask.ParallelStats
)

// The ways to cut lists: into ranges of documents (Documents, exact), into ranges found from the
// lists (Heterogeneous, exact), or by position (Homogeneous and Adjusted, approximate).
const (
	Documents     = ask.Documents
	Heterogeneous = ask.Heterogeneous
	Homogeneous   = ask.Homogeneous
	Adjusted      = ask.Adjusted
)

// The policies: share a score as soon as k answers reach it (Early), share nothing (Local), share
// once a worker has k answers (SharedFull), or half of that (SharedHalf, approximate).
const (
	Early      = ask.Early
	Local      = ask.Local
	SharedFull = ask.SharedFull
	SharedHalf = ask.SharedHalf
)

// Partitions lists the names that ParsePartition takes.
func Partitions() []string { return ask.Partitions() }

// ParsePartition is the inverse of Partition.String.
func ParsePartition(name string) (Partition, error) { return ask.ParsePartition(name) }

// Policies lists the names that ParsePolicy takes.
func Policies() []string { return ask.Policies() }

// ParsePolicy is the inverse of Policy.String.
func ParsePolicy(name string) (Policy, error) { return ask.ParsePolicy(name) }

// Recall is the share of the exact answers that were found; 1 if there are none.
func Recall(found, exact []Hit) float64 { return ask.Recall(found, exact) }

// Many requests.
type (
	// Batch says how to answer many requests.
	//
	//	type Batch struct {
	//		Threads  int         // workers; 0 means one for each core
	//		Schedule Schedule    // how they share the requests
	//		Engine   engine.Kind // GPU: the device alone; Auto: device and cores together
	//	}
	Batch = ask.Batch
	// Schedule is a way to spread many requests over cores.
	Schedule = ask.Schedule
)

// Mixed lets each worker answer requests alone, and lets idle workers help; Synchronous never
// helps; Asynchronous spreads each request over all workers.
const (
	Mixed        = ask.Mixed
	Synchronous  = ask.Synchronous
	Asynchronous = ask.Asynchronous
)

// Schedules lists the names that ParseSchedule takes.
func Schedules() []string { return ask.Schedules() }

// ParseSchedule is the inverse of Schedule.String.
func ParseSchedule(name string) (Schedule, error) { return ask.ParseSchedule(name) }

// Models.
type (
	// Model says how much a word says about a document. The models are [BM25], [BM25F],
	// [Boolean], [Cosine], [Dirichlet] and [DPH].
	Model = model.Model
	// BM25 is the usual model; package bm25 has the formula.
	//
	//	type BM25 struct {
	//		K1      float64      // term-frequency saturation; 0 means 1.2
	//		B       float64      // length normalisation, 0 to 1; 0 means 0.75
	//		Variant bm25.Variant // of the formula
	//		K3      float64      // saturation of repeated query words; 0 means none, 8 for Terrier
	//	}
	BM25 = model.BM25
	// BM25F is BM25 over the text fields of an index. Its fields are K1, B, Variant and Weights,
	// such as "title=3,body=1"; without them the schema's weights count.
	BM25F = model.BM25F
	// Boolean finds what has the words, and ranks nothing: every score is 0, and the answers with
	// the lowest document numbers are given.
	Boolean = model.Boolean
	// Cosine is TF-IDF in the vector space: the cosine of the angle between query and document.
	Cosine = model.Cosine
	// Dirichlet is query likelihood with Dirichlet smoothing.
	//
	//	type Dirichlet struct {
	//		Mu float64 // words of the collection added to a document; 0 means 1000
	//	}
	Dirichlet = model.Dirichlet
	// DPH is divergence from randomness without parameters.
	DPH = model.DPH
)

// Zero stands for 0 as a parameter of a model, since a field that is 0 stands for its default:
// BM25{B: 0.4} has the usual k1, and BM25{B: Zero} ignores the lengths of documents.
const Zero = model.Zero

// Models lists the names that ParseModel takes, without bm25f, which is for indexes with fields.
func Models() []string { return model.Models() }

// ParseModel makes a model of its name, with the default parameters.
func ParseModel(name string) (Model, error) { return model.ParseModel(name) }

// The GPU.
type (
	// GPUOptions say how an index is put on a GPU. The zero value takes the first one and most of
	// its memory.
	//
	//	type GPUOptions struct {
	//		Device   engine.Device
	//		Also     []engine.Device         // further devices with a copy, to share the work
	//		Progress func(done, total int64) // called with the number of postings brought there
	//		Log      *slog.Logger            // gets a line on what MapAll chooses
	//	}
	GPUOptions = device.Options
	// GPUStats says what the device did for a query.
	//
	//	type GPUStats struct {
	//		Items      int           // pieces of work whose postings were added up
	//		Candidates int           // documents that could have won at the time
	//		Rescored   int           // of these, scored exactly
	//		Fallback   string        // why the CPU answered instead, if it did
	//		Time       time.Duration // on the device, if it was measured
	//	}
	GPUStats = ask.GPUStats
	// GPUStage is a step of a batch on the device, with its time.
	//
	//	type GPUStage struct {
	//		Name string
	//		Time time.Duration
	//	}
	GPUStage = device.Stage
)
