package thesisbench

import "github.com/collocate/collocate/search"

// published is what the thesis measured for an algorithm and a mode on a Titan Xp and one core of an i7-5820K: milliseconds by class of
// queries, the best of all sizes, rows and policies in its tables 5.3 to 5.14, and the recall of its homogeneous partitions.
type published struct {
	core, homogeneous, heterogeneous [4]float64
	recall                           [4]float64
}

var thesis = map[search.Algorithm]map[search.Mode]published{
	search.WAND: {
		search.Or: {[4]float64{14.01, 42.86, 45.52, 202.79}, [4]float64{0.51, 2.05, 3.11, 27.12}, [4]float64{1.76, 3.56, 4.22, 19.45},
			[4]float64{0.891, 0.897, 0.833, 0.905}},
		search.And: {[4]float64{13.83, 42.43, 45.44, 200.77}, [4]float64{0.34, 1.80, 3.12, 27.32}, [4]float64{0.77, 2.68, 5.68, 19.89},
			[4]float64{0.911, 0.907, 0.821, 0.812}},
	},
	search.MaxScore: {
		search.Or: {[4]float64{6.26, 33.33, 69.18, 334.31}, [4]float64{0.45, 2.00, 3.54, 27.98}, [4]float64{2.23, 3.58, 6.02, 21.80},
			[4]float64{0.749, 0.781, 0.815, 0.855}},
		search.And: {[4]float64{6.31, 33.43, 70.08, 331.06}, [4]float64{0.34, 1.74, 3.27, 27.62}, [4]float64{1.87, 2.90, 6.47, 22.19},
			[4]float64{0.777, 0.783, 0.781, 0.789}},
	},
}

// publishedBatch is its batch of 500 queries in seconds, tables 7.1 to 7.4.
type publishedBatch struct{ core, homogeneous, heterogeneous, sync float64 }

var thesisBatch = map[search.Algorithm]publishedBatch{
	search.WAND:     {17.106, 1.33, 0.82, 0.799},
	search.MaxScore: {22.763, 1.51, 3.18, 3.071},
}

// aboutRecall explains the difference between the two approximate ways.
const aboutRecall = `Homogeneous partitions cut all lists at the same positions. Two lists that have nothing to do with each other reach a document at positions
that differ by about the square root of the positions, and soon by more than the size of a partition: then hardly any document has
all its postings in one partition, and what is found are documents that are good by one word alone. Lists of real text drift apart even more, for their lengths differ
and words come in clusters. The thesis shifted the ranges of its homogeneous partitions to begin at the same document (its section 4.5.4), and
the recall it reports, 0.73 to 0.91, is that of these: they are called adjusted here. An adjusted partition loses what one list has
behind the end of its own equally long range; the larger the partition, the less.`
