package search

import (
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/device"
	"github.com/collocate/collocate/search/internal/model"
)

// A request and its result. The types are defined with the engines that read and fill them; their
// fields and methods are theirs.
type (
	// Request is a query and how to answer it. Only Text or Words must be given. Its fields are
	// Text, which the index's analyzer cuts into words, or Words; K, the number of answers
	// (0 means 10); Mode; Algorithm; Model (nil means BM25{}); Parallel (nil means one core); and
	// Trace, which keeps how the threshold rose.
	Request = ask.Request
	// Word is a word of a query, as the index has it, with its Weight; 0 means 1.
	Word = ask.Word
	// Mode says which documents are answers: those with any word (Or) or with all (And).
	Mode = ask.Mode
	// Algorithm is one of those in the package comment.
	Algorithm = ask.Algorithm
	// Result has the Hits, best first, and Stats.
	Result = ask.Result
	// Hit is an answer: a document, Doc, and its Score.
	Hit = ask.Hit
	// Stats counts the work that a search had to do.
	Stats = ask.Stats
	// Method names the strategy that an algorithm took, for Stats.
	Method = ask.Method
	// Threshold is a point of Stats.Thresholds.
	Threshold = ask.Threshold
)

// MaxK is the largest number of answers that can be asked for.
const MaxK = ask.MaxK

// Or wants any of the words, And all of them.
const (
	Or  = ask.Or
	And = ask.And
)

// ParseMode takes "or" and "and".
func ParseMode(name string) (Mode, error) { return ask.ParseMode(name) }

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
	// zero value lets the search choose, and is exact. Its fields are Threads, Engine,
	// Partition, Size, Row and Policy.
	Parallel = ask.Parallel
	// Blocks are choices for WAND, MaxScore and BMW on a GPU.
	Blocks = ask.Blocks
	// Partition is a way to cut the lists of a query into pieces for workers.
	Partition = ask.Partition
	// Policy is what the workers of a query tell each other about the score to beat.
	Policy = ask.Policy
	// ParallelStats says how a search was spread over cores.
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
	// Batch says how many requests are answered: Threads, Strategy and Engine.
	Batch = ask.Batch
	// Strategy is a way to spread many requests over cores.
	Strategy = ask.Strategy
)

// Mixed lets each worker answer requests alone, and lets idle workers help; Synchronous never
// helps; Asynchronous spreads each request over all workers.
const (
	Mixed        = ask.Mixed
	Synchronous  = ask.Synchronous
	Asynchronous = ask.Asynchronous
)

// Strategies lists the names that ParseStrategy takes.
func Strategies() []string { return ask.Strategies() }

// ParseStrategy is the inverse of Strategy.String.
func ParseStrategy(name string) (Strategy, error) { return ask.ParseStrategy(name) }

// Models.
type (
	// Model says how much a word says about a document. The models are [BM25], [Boolean], [Cosine],
	// [Dirichlet] and [DPH].
	Model = model.Model
	// BM25 is the usual model. Its fields are K1 (0 stands for 1.2), B (0 stands for 0.75) and
	// Variant; see package bm25 for the formula.
	BM25 = model.BM25
	// Boolean finds what has the words, and ranks nothing: every score is 0, and the answers with
	// the lowest document numbers are given.
	Boolean = model.Boolean
	// Cosine is TF-IDF in the vector space: the cosine of the angle between query and document.
	Cosine = model.Cosine
	// Dirichlet is query likelihood with Dirichlet smoothing; Mu is 1000 if it is 0.
	Dirichlet = model.Dirichlet
	// DPH is divergence from randomness without parameters.
	DPH = model.DPH
)

// Zero is how to say 0 as a parameter of a model, for a field that is 0 stands for its default:
// BM25{B: 0.4} has the usual k1, and BM25{B: Zero} ignores the lengths of documents.
const Zero = model.Zero

// Models lists the names that ParseModel takes.
func Models() []string { return model.Models() }

// ParseModel makes a model of its name, with the default parameters.
func ParseModel(name string) (Model, error) { return model.ParseModel(name) }

// The GPU.
type (
	// GPUOptions say how an index is put on a GPU: the Device, a function that is told the
	// Progress, and a Log of what MapAll chooses. The zero value takes the first GPU.
	GPUOptions = device.Options
	// GPUStats says what the device did for a query.
	GPUStats = ask.GPUStats
	// GPUStage is a step of a batch on the device, with its time.
	GPUStage = device.Stage
)
