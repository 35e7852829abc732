package search

import (
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/tree"
)

// A request and its result. The types are defined with the engines that read and fill them. Where
// one of them is a struct, its comment here shows the fields.
type (
	// Request is a query and how to answer it. One of Text, Words and Query says what to find;
	// without any there are no hits.
	//
	//	type Request struct {
	//		Text      string    // plain words, cut by the index's analyzer; no operators
	//		Words     []Word    // used instead of Text if there are any
	//		Query     query.Node // used instead of both: phrases, filters, ... as of query.Parse
	//		K         int       // number of answers; 0 means 10, NoHits none
	//		From      int       // number of best answers to skip, for paging
	//		Mode      Mode      // Or or And; 0 means Or
	//		Collapse  Collapse  // documents are hits instead of their passages
	//		Algorithm Algorithm // all give the same result; 0 means Auto
	//		Trace     bool      // record how the threshold rose, in Stats.Thresholds
	//		Count     bool      // compute Result.Total
	//		AtLeast   float32   // documents with lower scores may be missing; 0 means none may
	//		Patterns  *[]Pattern // for a shard: counts of patterns in the whole index
	//		After     *After    // begin after this hit instead of with the best
	//		Model     Model     // nil means BM25{}, or Impact{} for weighted tokens
	//		Parallel  *Parallel // cores or a GPU; nil means one core
	//		Within    *Within   // documents that may match; nil means all
	//		Filter    query.Node // only documents that match it; Query stays nil for plain words
	//		Facets    []Facet   // counts of field values over all matches
	//		Sort      *Sort     // order by a field instead of by score
	//		Expand    *Expand   // adds words from the best documents
	//		Synonyms  *text.Synonyms // instead of those of the index; without rules: none
	//		Proximity *Proximity // rewards query words that are adjacent in a document
	//		Boosts    []Boost   // raise scores by values of fields
	//		Nearest   *Nearest  // ranks by the similarity of vectors, beside the words if any
	//	}
	Request = ask.Request
	// Word is a word of a query, in the form in which the index has it.
	//
	//	type Word struct {
	//		Text   string  // as the analyzer of the index makes it
	//		Weight float64 // factor of its scores; 0 means 1
	//	}
	Word = ask.Word
	// Mode says which documents match: those with any of the words (Or) or with all of them (And).
	// Methods: String returns the name; MarshalText and UnmarshalText write and read it.
	Mode = ask.Mode
	// Algorithm is one of the algorithms in the package comment.
	// Methods: String returns the name; MarshalText and UnmarshalText write and read it.
	Algorithm = ask.Algorithm
	// Result is the answer to a request.
	//
	//	type Result struct {
	//		Hits  []Hit // best first
	//		Total int64 // number of matching documents, if Count is set or K is NoHits
	//		Facets []FacetCounts // for Request.Facets
	//		Keys  []SortKey // of the hits, if Request.Sort is set
	//		Expanded []Word // the expanded query, if Request.Expand is set
	//		Stats Stats // the work of the search
	//	}
	Result = ask.Result
	// Hit is a document of the result.
	//
	//	type Hit struct {
	//		Doc   uint32 // the document's number in the index
	//		Score float32
	//	}
	Hit = ask.Hit
	// Stats counts the work done by a search. Strategies for trees leave Blocks, Scored, Decoded
	// and Skipped 0. Algorithm is Auto if only Strategy says how the request was answered. Methods:
	// Counted() bool reports whether Blocks and the other three were counted; How() string names
	// the algorithm and its strategy; Add(part *Stats) adds the work on another part of the index.
	//
	//	type Stats struct {
	//		Algorithm  Algorithm      // the one requested, or chosen by Auto; or Auto (see above)
	//		Strategy   Strategy       // what it used, if it has several, or that of a tree
	//		Words      int            // distinct query words that are in the index
	//		Postings   int64          // in the lists of these words
	//		Blocks     int64          // in which the postings are stored
	//		Scored     int64          // postings that were scored
	//		Decoded    int64          // postings of the blocks in which any was scored
	//		Skipped    int64          // the other blocks
	//		Entered    int64          // documents that entered the k best, even if later evicted
	//		Pruned     bool           // the index is pruned: better documents may be missing
	//		Thresholds []Threshold    // the threshold over time, with Request.Trace
	//		Parallel   *ParallelStats // how cores shared the work; nil if one did it
	//		GPU        *GPUStats      // what the device did; nil if nothing
	//	}
	Stats = ask.Stats
	// Strategy names how an algorithm evaluated a request. Algorithm bmm, mode And, query trees and
	// tiles (on a GPU) have several strategies; the search tries them in a fixed order and uses the
	// first that should pay. The zero value stands for an algorithm that has only one. If segments,
	// shards or workers used different ones, it has all of them: one-levels+or-guess. Methods:
	// String returns the names; MarshalText and UnmarshalText write and read them. The names:
	//
	//	one-from-top      one word within a filter: its best postings first
	//	one-guess         one word within a filter: above a guessed score
	//	one-levels        one word, by its map of levels
	//	one-blocks        one word, block by block
	//	or-from-top       within a filter: documents with rare words, then the frequent word's best
	//	or-guess          above a guessed score
	//	or-guess-marks    the same; documents are marked before any is scored
	//	or-sample         whole lists, above a score that a sample of the documents suggests
	//	or-whole          whole lists are added up
	//	or-windows        block-max MaxScore in windows of documents
	//	or-marks          the same; documents are marked before any is scored
	//	or-impacts        weighted tokens: bounds of blocks of documents, then tile by tile
	//	and-guess         above a score that is guessed from maps of levels
	//	and-best-first    the most promising postings of the shortest list first
	//	and-blocks        the shortest list, block by block
	//	tree-phrase       a phrase; positions are read last
	//	tree-lists        a tree: the matching documents as a set, then scored list by list
	//	tree-conjunction  mandatory words and phrases, led by the rarest list
	//	tree-sparse       any of several words, within a filter that leaves few documents
	//	tree-beside       words and weighted tokens of a field: sums of the best of each
	//	gpu-pair          up to two words in one launch; the score for two is guessed
	//	gpu-one           up to four words in one launch
	//	gpu-general       any number of words, in three launches
	//	gpu-short         in a batch: all postings of a rare word that decides are scored
	//	gpu-long          in a batch: the device chooses how it reads the lists
	//	gpu-impacts       weighted tokens: whole tiles, above a score that a sample suggests
	//	filter-lists      beside another: on the lists within a filter that is asked again
	//
	// With filter-lists the counts of Stats are of these lists.
	Strategy = ask.Strategy
	// After is the place of a hit in the order of the answers, from which a further request goes
	// on. Its method Precedes(doc uint32, score float32) bool compares by score.
	//
	//	type After struct {
	//		Score float32 // of the hit, if there is no Sort
	//		Doc   int64   // number of its document
	//		Key   SortKey // as in Result.Keys, if there is a Sort
	//	}
	After = ask.After
	// Within limits answers to some documents. Its method Of(segment int) *docset.Set returns the
	// set of a segment; nil means all its documents.
	//
	//	type Within struct {
	//		Sets []*docset.Set // one for each segment of the index, as of Match
	//	}
	Within = ask.Within
	// Facet requests the number of matching documents for each value of a field.
	//
	//	type Facet struct {
	//		Field string // a keyword, number or date field
	//		Step  string // width of ranges: 10, or year (the default of dates), month or day
	//		N     int    // number of values, the most frequent first; 0 means 10, AllValues all
	//	}
	Facet = ask.Facet
	// FacetCounts are the counts for a Facet.
	//
	//	type FacetCounts struct {
	//		Field    string       // as in the request
	//		Values   []FacetValue // by decreasing frequency, then by value
	//		Distinct int          // number of different values, returned or not
	//	}
	FacetCounts = ask.FacetCounts
	// FacetValue is a value of a field with the number of matching documents that have it.
	//
	//	type FacetValue struct {
	//		Value string // as text; a range as [10 TO 20}, without 20
	//		Docs  int
	//		Query string // finds these documents
	//	}
	FacetValue = ask.FacetValue
	// Sort orders hits by the values of a field; documents without a value come last.
	//
	//	type Sort struct {
	//		Field      string
	//		Descending bool   // the largest values first
	//		Then       []Sort // for documents that are equal by the ones before
	//	}
	Sort = ask.Sort
	// SortKey is the sort key of a hit. Its fields are Missing (the document has no value), Key (of
	// numbers and dates; the smaller comes first), Word (of keywords) and Then (of Sort.Then). The
	// method Compare(a, b SortKey) int of Sort compares two of them.
	SortKey = ask.SortKey
	// Expand adds words from the best documents to a query. Methods: String returns what
	// ParseExpand reads, WithDefaults fills in fields that are 0, and Check reports invalid fields.
	//
	//	type Expand struct {
	//		Method Expansion // RM3 or Bo1
	//		Docs   int       // number of these documents; 0 means 10, or 3 for Bo1
	//		Terms  int       // number of words; 0 means 10
	//		Weight float64   // of the original query, in RM3; 0 means 0.5, and Zero 0
	//	}
	Expand = ask.Expand
	// Expansion is a method to choose and weight the words that Expand adds.
	// Methods: String returns the name; MarshalText and UnmarshalText write and read it.
	Expansion = ask.Expansion
	// Proximity adds scores for pairs of adjacent query words that are also close in a document.
	// The zero value is [SDM]. Methods: WithDefaults fills in fields that are 0, and Check reports
	// invalid fields.
	//
	//	type Proximity struct {
	//		Words     float64 // factor of the score of each word
	//		Ordered   float64 // factor of the score of a pair as a phrase
	//		Unordered float64 // factor of the score of a pair within Window words, in any order
	//		Window    int     // 2 or more; 0 means 8
	//	}
	Proximity = ask.Proximity
	// Part is the contribution of one part of a query tree to a document's score, for Explanation.
	//
	//	type Part struct {
	//		Query     string  // the part, in the language of package query
	//		Role      string  // must, not or filter; "" for should: it is optional
	//		Documents int     // number of documents that it matches
	//		Matches   bool    // whether it matches this document
	//		TF        uint32  // number of occurrences in this document
	//		Weight    float64 // of a word, phrase or pattern that scores
	//		Score     float32 // its contribution
	//		Parts     []Part
	//	}
	Part = tree.Part
	// Threshold is a point of Stats.Thresholds: from then on only higher scores could enter the
	// result.
	//
	//	type Threshold struct {
	//		Entered int64 // documents that had entered the k best so far
	//		Doc     uint32
	//		Score   float32
	//	}
	Threshold = ask.Threshold
)

// MaxK is the largest allowed number of results.
const MaxK = ask.MaxK

// NoHits as the K of a Request asks for the total and the facets only. Nothing is ranked.
const NoHits = ask.NoHits

// ErrRequest is wrapped by every error that the request causes, such as a phrase query on an index
// without positions or an unknown name: errors.Is(err, ErrRequest). Syntax errors of the query
// language are a *[query.Error] instead.
var ErrRequest = ask.ErrRequest

// Or matches documents with any of the words, And those with all of them.
const (
	Or  = ask.Or
	And = ask.And
)

// ParseMode returns the mode of a name, "or" or "and".
func ParseMode(name string) (Mode, error) { return ask.ParseMode(name) }

// The expansion methods: the relevance model RM3 as in Anserini, and Bo1 as in Terrier.
const (
	RM3 = ask.RM3
	Bo1 = ask.Bo1
)

// Expansions lists the names that ParseExpand accepts.
func Expansions() []string { return ask.Expansions() }

// ParseExpand parses rm3 or bo1 with optional parameters, such as rm3:docs=10,terms=10,weight=0.5.
func ParseExpand(s string) (*Expand, error) { return ask.ParseExpand(s) }

// SDM is the sequential dependence model with its usual weights 0.85, 0.1 and 0.05 and a window of
// 8 words.
func SDM() *Proximity { return ask.SDM() }

// ParseProximity parses sdm, or sdm:0.85,0.1,0.05 with the weights of words, of adjacent pairs and
// of pairs within 8 words.
func ParseProximity(s string) (*Proximity, error) { return ask.ParseProximity(s) }

// AllValues as the N of a Facet requests every value, which MergeFacets needs.
const AllValues = ask.AllValues

// ParseFacet parses FIELD[/STEP][:N], such as year/10:5: the 5 most frequent decades.
func ParseFacet(s string) (Facet, error) { return ask.ParseFacet(s) }

// ParseSort parses FIELD, FIELD:asc or FIELD:desc, or several of these with commas between them.
func ParseSort(s string) (*Sort, error) { return ask.ParseSort(s) }

// Auto chooses by the lists and k; the package comment describes the others. Tiles runs on GPUs
// only and is the default there.
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

// Algorithms lists the names that ParseAlgorithm accepts.
func Algorithms() []string { return ask.Algorithms() }

// ParseAlgorithm is the inverse of Algorithm.String.
func ParseAlgorithm(name string) (Algorithm, error) { return ask.ParseAlgorithm(name) }

// Parallel evaluation of one request.
type (
	// Parallel says how the work of one query is spread over cores, or that a GPU does it. The zero
	// value lets the search choose, and is exact. Its method Exact reports whether the chosen
	// options give the exact result.
	//
	//	type Parallel struct {
	//		Threads   int         // workers; 0 means one for each core
	//		Engine    engine.Kind // Auto: several cores only where that is faster
	//		Partition Partition   // how the lists are partitioned
	//		Size      int         // of a partition: postings, or documents; 0 chooses
	//		Row       int         // partitions before a worker discards its k best; 0: never
	//		Policy    Policy      // how workers share the threshold
	//		Slack     int         // how far an Adjusted partition may begin early, in documents
	//		Blocks    Blocks      // options for thread blocks of a GPU
	//	}
	Parallel = ask.Parallel
	// Blocks are options of WAND, MaxScore and BMW on a GPU. The zero value is fastest, and all
	// give the same result. Its method Check reports invalid fields.
	//
	//	type Blocks struct {
	//		Threads    int  // of a block: 32, 64 or 128; 0 means 32
	//		Slice      int  // postings per list in shared memory: 32 to 128; 0 chooses
	//		Insert     bool // build heaps by insertion, not by sorting the first k answers
	//		Pairs      bool // merge two lists of answers at a time, not up to 64
	//		Start      bool // mode And by an initial threshold, not by intersection
	//		Compressed bool // read lists in the index's blocks, not expanded ones
	//	}
	Blocks = ask.Blocks
	// Partition is a way to partition the lists of a query for the workers.
	// Methods: String returns the name; MarshalText and UnmarshalText write and read it.
	Partition = ask.Partition
	// Policy says how the workers of a query share the threshold.
	// Methods: String returns the name; MarshalText and UnmarshalText write and read it.
	Policy = ask.Policy
	// ParallelStats says how a search was spread over cores.
	//
	//	type ParallelStats struct {
	//		Threads    int
	//		Partition  Partition
	//		Size       int // of a partition
	//		Partitions int // number of partitions
	//		Policy     Policy
	//		Exact      bool // the result equals that of one core
	//	}
	ParallelStats = ask.ParallelStats
)

// The ways to partition lists: into ranges of documents (Documents, exact), into ranges derived
// from the lists (Heterogeneous, exact), or by position (Homogeneous and Adjusted, approximate).
const (
	Documents     = ask.Documents
	Heterogeneous = ask.Heterogeneous
	Homogeneous   = ask.Homogeneous
	Adjusted      = ask.Adjusted
)

// The policies: share a threshold as soon as any k answers reach it (Early), share nothing (Local),
// share once a worker has k answers (SharedFull), or k/2 answers (SharedHalf, approximate).
const (
	Early      = ask.Early
	Local      = ask.Local
	SharedFull = ask.SharedFull
	SharedHalf = ask.SharedHalf
)

// Partitions lists the names that ParsePartition accepts.
func Partitions() []string { return ask.Partitions() }

// ParsePartition is the inverse of Partition.String.
func ParsePartition(name string) (Partition, error) { return ask.ParsePartition(name) }

// Policies lists the names that ParsePolicy accepts.
func Policies() []string { return ask.Policies() }

// ParsePolicy is the inverse of Policy.String.
func ParsePolicy(name string) (Policy, error) { return ask.ParsePolicy(name) }

// Recall is the fraction of the exact answers that were found; 1 if there are none.
func Recall(found, exact []Hit) float64 { return ask.Recall(found, exact) }

// Batches of requests.
type (
	// Batch says how to answer many requests.
	//
	//	type Batch struct {
	//		Threads  int         // workers; 0 means one for each core
	//		Schedule Schedule    // how the workers share the requests
	//		Engine   engine.Kind // GPU: the device alone; Auto: device and cores together
	//	}
	Batch = ask.Batch
	// Schedule is a way to distribute many requests over cores.
	// Methods: String returns the name; MarshalText and UnmarshalText write and read it.
	Schedule = ask.Schedule
)

// Mixed gives each request to one worker, and idle workers help with requests in progress.
// Synchronous is the same without help. Asynchronous spreads each request over all workers.
const (
	Mixed        = ask.Mixed
	Synchronous  = ask.Synchronous
	Asynchronous = ask.Asynchronous
)

// Schedules lists the names that ParseSchedule accepts.
func Schedules() []string { return ask.Schedules() }

// ParseSchedule is the inverse of Schedule.String.
func ParseSchedule(name string) (Schedule, error) { return ask.ParseSchedule(name) }

// Models.
type (
	// Model scores a word in a document. The models are the types below and, for a function of
	// one's own, a pointer to [Own]. Each has the method String: the name with the parameters. The
	// interface has an unexported method, so there are no others.
	Model = model.Model
	// Own is a model of one's own program, for Request.Model as a pointer. CPU cores compute it; a
	// GPU leaves such requests to them. Word is called for a word of the query, and returns the
	// function that scores it by its frequency in a document and the document's length, for several
	// goroutines at once. A score below 0, or that is not a number, counts as 0, and one above 1e30
	// as 1e30. Of a model that is Monotonic, documents that cannot be among the best are skipped.
	// If some numbers show that it is not, all documents with a word of the query are scored.
	//
	//	type Own struct {
	//		Name      string // what String returns
	//		Word      func(w WordStats) func(tf, length uint32) float64
	//		Monotonic bool   // scores never fall with the frequency, nor rise with the length
	//	}
	Own = model.Own
	// WordStats are the numbers of a word that an Own can use.
	//
	//	type WordStats struct {
	//		Word        string
	//		Documents   uint64 // that have the word
	//		Occurrences uint64 // of the word in all documents
	//		All, Tokens uint64 // the numbers of documents and of their words
	//	}
	WordStats = model.WordStats
	// BM25 is the default model; package bm25 has the formula. A word that all documents have
	// scores 0 by it, as it tells none from the others, but not by the Variant bm25.Lucene.
	//
	//	type BM25 struct {
	//		K1      float64      // term-frequency saturation; 0 means 1.2
	//		B       float64      // length normalisation, 0 to 1; 0 means 0.75
	//		Variant bm25.Variant // of the formula
	//		K3      float64      // query term-frequency saturation; 0 means none, 8 for Terrier
	//	}
	BM25 = model.BM25
	// BM25F is BM25 over the text fields of an index, for queries of plain words.
	//
	//	type BM25F struct {
	//		K1, B   float64      // saturation, and length normalisation of each field
	//		Variant bm25.Variant // of the formula, any but bm25l
	//		Weights string       // such as "title=3,body=1"; "" means those of the schema
	//	}
	BM25F = model.BM25F
	// Boolean matches without ranking: every score is 0, and the matching documents with the lowest
	// numbers are returned.
	Boolean = model.Boolean
	// Cosine is TF-IDF in the vector space: the cosine of the angle between query and document.
	Cosine = model.Cosine
	// Dirichlet is query likelihood with Dirichlet smoothing.
	//
	//	type Dirichlet struct {
	//		Mu float64 // smoothing, in words; 0 means 1000
	//	}
	Dirichlet = model.Dirichlet
	// DPH is the parameter-free divergence-from-randomness model.
	DPH = model.DPH
	// Impact is the dot product of the weights of tokens in query and document. It is the usual
	// model of an index whose analyzer is impact, and ranks by Σ q·tf elsewhere.
	Impact = model.Impact
)

// Zero stands for 0 as a parameter of a model, since a field that is 0 stands for its default:
// BM25{B: 0.4} has the default k1, and BM25{B: Zero} ignores the lengths of documents.
const Zero = model.Zero

// Models lists the names that ParseModel accepts, except bm25f, which needs an index with fields.
func Models() []string { return model.Models() }

// ModelHelp returns a few words on the model of a name.
func ModelHelp(name string) string { return model.Help(name) }

// ParseModel returns the model of a name, with default parameters.
func ParseModel(name string) (Model, error) {
	m, err := model.ParseModel(name)
	if err != nil {
		return nil, ask.Refuse("%w", err)
	}
	return m, nil
}

// The GPU.
type (
	// GPUOptions say how an index is loaded onto a GPU. The zero value uses the first GPU and most
	// of its memory.
	//
	//	type GPUOptions struct {
	//		Device   engine.Device
	//		Also     []engine.Device         // further devices with a copy, which share the work
	//		Progress func(done, total int64) // called with the number of postings loaded
	//		Log      *slog.Logger            // reports the choices of MapAll
	//	}
	GPUOptions = ask.GPUOptions
	// GPUStats describes the work of the device for a query.
	//
	//	type GPUStats struct {
	//		Items      int           // work items whose postings were added up
	//		Candidates int           // documents whose bound exceeded the threshold at the time
	//		Rescored   int           // candidates scored exactly
	//		Fallback   string        // why the CPU answered instead, or ""
	//		Time       time.Duration // on the device, if measured
	//	}
	GPUStats = ask.GPUStats
	// GPUStage is a stage of a batch on the device, with its time.
	//
	//	type GPUStage struct {
	//		Name string
	//		Time time.Duration
	//	}
	GPUStage = ask.GPUStage
)
