package thesisbench

import (
	"math"
	"slices"

	"github.com/collocate/collocate/search"
)

// The numbers that the thesis published. Its machine had a Titan Xp (30 multiprocessors, 547.7
// GB/s) and an i7-5820K, of which the sequential algorithms, in Java, used one core.

// part is a section of chapter 5: an algorithm and a mode.
type part struct {
	algorithm search.Algorithm
	mode      search.Mode
}

// Settings of the thesis' tables.
var (
	thesisPolicies = []search.Policy{search.Local, search.SharedFull, search.SharedHalf}
	thesisSizes    = []int{32, 64}
	batchSizes     = []int{32, 64, 128}
	thesisRows     = []int{1, 10}
	blockThreads   = []int{32, 64, 128}
	// The thesis' homogeneous partitions are adjusted (4.5.4), so they are Adjusted here.
	thesisCuts = []search.Partition{search.Adjusted, search.Heterogeneous}
)

// Slack is the number of documents by which adjusted lists may begin early in the thesis (4.5.4).
const Slack = 5

// publishedSingle has times of single queries in milliseconds, by class of queries.
type publishedSingle struct {
	sequential [4]float64
	parallel   [24][4]float64   // by partition, policy, size and partitions in a row
	recall     [3][4][2]float64 // of homogeneous partitions by policy: recall and its deviation
}

var thesisSingle = map[part]publishedSingle{
	{search.WAND, search.Or}: { // tables 5.3 to 5.5
		sequential: [4]float64{14.01, 42.86, 45.52, 202.79},
		parallel: [24][4]float64{
			{0.54, 3.28, 11.05, 509.39}, {1.73, 2.22, 4.62, 57.14}, // hom, local
			{0.51, 2.53, 7.34, 271.54}, {3.02, 3.41, 4.30, 35.01},
			{0.57, 3.42, 11.31, 508.60}, {1.75, 2.05, 3.50, 49.32}, // hom, sh-r
			{0.54, 2.62, 7.46, 270.41}, {3.19, 3.14, 3.11, 27.12},
			{0.55, 3.33, 11.15, 509.39}, {1.74, 2.30, 3.89, 50.08}, // hom, sh-wr
			{0.56, 2.58, 7.41, 269.57}, {3.22, 3.20, 3.62, 27.70},
			{1.76, 3.93, 10.07, 225.70}, {4.11, 4.23, 7.72, 36.38}, // het, local
			{2.50, 3.68, 7.60, 124.15}, {5.46, 5.86, 11.75, 31.98},
			{2.51, 3.79, 7.20, 218.14}, {4.19, 3.87, 4.56, 24.78}, // het, sh-r
			{2.74, 3.78, 5.10, 118.70}, {6.02, 4.96, 4.36, 19.45},
			{2.53, 4.10, 6.78, 222.14}, {3.35, 4.26, 4.22, 25.41}, // het, sh-wr
			{2.01, 3.56, 6.16, 121.90}, {5.07, 4.08, 4.37, 20.20},
		},
		recall: [3][4][2]float64{
			{{0.891, 0.030}, {0.897, 0.011}, {0.833, 0.021}, {0.905, 0.019}},
			{{0.890, 0.030}, {0.897, 0.011}, {0.833, 0.021}, {0.905, 0.019}},
			{{0.891, 0.030}, {0.897, 0.011}, {0.833, 0.021}, {0.905, 0.019}},
		},
	},
	{search.WAND, search.And}: { // tables 5.6 to 5.8
		sequential: [4]float64{13.83, 42.43, 45.44, 200.77},
		parallel: [24][4]float64{
			{0.34, 2.39, 9.11, 503.78}, {1.59, 2.05, 3.79, 53.67}, // hom, local
			{0.46, 1.80, 5.54, 264.82}, {2.79, 3.27, 4.08, 31.18},
			{0.36, 2.44, 9.20, 502.65}, {1.74, 1.96, 3.12, 49.34}, // hom, sh-r
			{0.49, 1.88, 5.65, 259.13}, {3.17, 3.18, 3.22, 27.32},
			{0.35, 2.41, 9.16, 499.57}, {1.76, 2.06, 3.28, 50.53}, // hom, sh-wr
			{0.49, 1.84, 5.58, 264.19}, {3.23, 3.25, 3.43, 27.81},
			{0.77, 2.90, 8.23, 217.83}, {2.46, 4.35, 6.88, 33.91}, // het, local
			{1.17, 2.71, 6.23, 119.35}, {4.09, 6.12, 8.90, 30.30},
			{0.85, 2.90, 8.43, 217.66}, {2.83, 4.07, 6.70, 25.00}, // het, sh-r
			{1.29, 2.68, 7.11, 116.10}, {4.77, 5.57, 8.56, 19.89},
			{0.85, 2.97, 8.72, 216.24}, {2.82, 4.13, 5.68, 25.95}, // het, sh-wr
			{1.25, 2.81, 7.55, 117.87}, {4.69, 5.70, 8.67, 20.19},
		},
		recall: [3][4][2]float64{
			{{0.911, 0.012}, {0.907, 0.011}, {0.821, 0.016}, {0.812, 0.015}},
			{{0.891, 0.013}, {0.887, 0.021}, {0.821, 0.016}, {0.812, 0.015}},
			{{0.911, 0.012}, {0.857, 0.019}, {0.821, 0.016}, {0.812, 0.015}},
		},
	},
	{search.MaxScore, search.Or}: { // tables 5.9 to 5.11
		sequential: [4]float64{6.26, 33.33, 69.18, 334.31},
		parallel: [24][4]float64{
			{0.47, 3.04, 10.55, 504.82}, {1.54, 2.00, 4.34, 55.73}, // hom, local
			{0.45, 2.29, 6.89, 266.48}, {2.84, 3.22, 4.11, 34.32},
			{0.51, 3.15, 10.77, 499.76}, {1.72, 2.06, 3.90, 49.05}, // hom, sh-r
			{0.48, 2.40, 7.12, 266.75}, {3.24, 3.14, 3.54, 27.98},
			{0.49, 3.11, 10.67, 504.09}, {1.74, 2.28, 4.36, 50.34}, // hom, sh-wr
			{0.47, 2.36, 7.02, 271.61}, {3.29, 3.23, 4.03, 28.61},
			{2.23, 3.98, 10.96, 220.79}, {3.71, 4.50, 8.47, 35.43}, // het, local
			{2.46, 3.78, 9.72, 121.62}, {5.46, 5.97, 13.79, 32.11},
			{2.54, 3.88, 9.62, 217.52}, {4.27, 5.02, 6.54, 28.14}, // het, sh-r
			{2.71, 3.58, 7.82, 116.84}, {6.15, 5.53, 6.41, 21.80},
			{2.47, 3.95, 8.95, 220.20}, {4.40, 5.43, 6.02, 28.73}, // het, sh-wr
			{2.57, 3.74, 6.87, 118.87}, {6.13, 7.49, 6.97, 22.71},
		},
		recall: [3][4][2]float64{
			{{0.749, 0.020}, {0.781, 0.021}, {0.815, 0.031}, {0.855, 0.033}},
			{{0.749, 0.020}, {0.781, 0.021}, {0.815, 0.031}, {0.855, 0.033}},
			{{0.743, 0.029}, {0.777, 0.029}, {0.812, 0.032}, {0.809, 0.035}},
		},
	},
	{search.MaxScore, search.And}: { // tables 5.12 to 5.14
		sequential: [4]float64{6.31, 33.43, 70.08, 331.06},
		parallel: [24][4]float64{
			{0.34, 2.38, 9.17, 495.99}, {1.46, 1.88, 3.49, 51.16}, // hom, local
			{0.42, 1.74, 5.56, 264.12}, {2.67, 3.11, 3.88, 29.66},
			{0.36, 2.43, 9.28, 493.43}, {1.65, 1.95, 3.27, 49.23}, // hom, sh-r
			{0.45, 1.82, 5.69, 263.73}, {3.07, 3.20, 3.47, 28.10},
			{0.35, 2.40, 9.21, 497.32}, {1.67, 1.99, 3.30, 49.52}, // hom, sh-wr
			{0.43, 1.78, 5.63, 265.75}, {3.13, 3.22, 3.60, 27.62},
			{1.87, 3.11, 8.71, 215.78}, {2.91, 4.44, 9.16, 33.66}, // het, local
			{2.05, 2.90, 7.84, 116.46}, {4.44, 6.64, 11.97, 31.21},
			{2.16, 3.29, 9.04, 213.17}, {3.36, 4.61, 8.15, 27.96}, // het, sh-r
			{2.28, 3.04, 7.90, 114.31}, {4.98, 6.64, 9.15, 22.19},
			{2.04, 3.23, 9.07, 214.88}, {3.28, 4.68, 6.47, 28.38}, // het, sh-wr
			{2.16, 3.06, 8.08, 117.21}, {4.97, 7.04, 7.84, 22.55},
		},
		recall: [3][4][2]float64{
			{{0.777, 0.034}, {0.783, 0.032}, {0.781, 0.031}, {0.789, 0.031}},
			{{0.777, 0.034}, {0.783, 0.032}, {0.781, 0.031}, {0.789, 0.031}},
			{{0.732, 0.038}, {0.781, 0.039}, {0.780, 0.039}, {0.789, 0.032}},
		},
	},
}

// singleRow returns the row of a setting in tables 5.4, 5.7, 5.10 and 5.13, or false if the thesis
// does not have the setting.
func singleRow(cut search.Parallel) (int, bool) {
	i, ok := indexOf(cut.Partition, cut.Policy)
	size, row := slices.Index(thesisSizes, cut.Size), slices.Index(thesisRows, cut.Row)
	return i*4 + size*2 + row, ok && size >= 0 && row >= 0
}

// best returns the least time of a partition in a class, over all settings of the table.
func (p *publishedSingle) best(cut search.Partition, class int) float64 {
	least := math.Inf(1)
	i, _ := indexOf(cut, search.Local)
	for _, row := range p.parallel[i*4 : i*4+12] {
		least = min(least, row[class])
	}
	return least
}

// indexOf numbers partitions and policies as the thesis' tables list them.
func indexOf(cut search.Partition, policy search.Policy) (int, bool) {
	i, j := slices.Index(thesisCuts, cut), slices.Index(thesisPolicies, policy)
	return i*3 + j, i >= 0 && j >= 0
}

// publishedBatch has times of a batch of 500 queries in seconds.
type publishedBatch struct {
	sequential float64        // table 7.1
	async      [12][3]float64 // tables 7.2 and 7.3: by partition, policy and partitions in a row; by size
	sync       [3]float64     // table 7.4: 32, 64 and 128 threads in a block
	// Best speedups over 1 to 250 partitions in a row, from the text on figures 7.1 to 7.8; 0 if
	// the text does not give them.
	bestAdjusted, bestHeterogeneous float64
}

var thesisBatch = map[search.Algorithm]publishedBatch{
	search.WAND: {
		sequential: 17.106,
		async: [12][3]float64{
			{52.17, 26.10, 13.51}, {5.58, 3.05, 1.77}, // hom, local
			{51.51, 25.97, 13.16}, {5.07, 2.63, 1.33}, // hom, sh-r
			{51.51, 25.82, 12.74}, {5.06, 2.68, 1.41}, // hom, sh-wr
			{8.59, 4.90, 2.83}, {1.81, 1.42, 1.16}, // het, local
			{7.54, 4.07, 2.49}, {1.37, 1.02, 0.82}, // het, sh-r
			{7.51, 4.06, 2.34}, {1.37, 1.02, 0.85}, // het, sh-wr
		},
		sync:         [3]float64{0.809, 0.799, 0.813},
		bestAdjusted: 40, bestHeterogeneous: 25,
	},
	search.MaxScore: {
		sequential: 22.763,
		async: [12][3]float64{
			{51.28, 25.77, 13.14}, {5.41, 2.92, 1.64}, // hom, local
			{51.42, 25.75, 13.08}, {5.20, 2.78, 1.51}, // hom, sh-r
			{51.38, 25.80, 12.87}, {5.21, 2.79, 1.52}, // hom, sh-wr
			{9.71, 6.23, 4.65}, {3.74, 3.39, 3.18}, // het, local
			{9.53, 6.25, 4.92}, {3.94, 3.67, 3.41}, // het, sh-r
			{10.00, 6.58, 4.83}, {4.04, 3.65, 3.46}, // het, sh-wr
		},
		sync:         [3]float64{3.072, 3.071, 3.079},
		bestAdjusted: 40,
	},
}

// batchCell returns the cell of a setting in tables 7.2 and 7.3, or false if the thesis does not
// have the setting.
func batchCell(cut search.Parallel) (row, size int, ok bool) {
	i, ok := indexOf(cut.Partition, cut.Policy)
	size, row = slices.Index(batchSizes, cut.Size), slices.Index(thesisRows, cut.Row)
	return i*2 + row, size, ok && size >= 0 && row >= 0
}

// bestOfTable returns the least time in table 7.2 or 7.3.
func (p *publishedBatch) bestOfTable(cut search.Partition) float64 {
	least := math.Inf(1)
	i, _ := indexOf(cut, search.Local)
	for _, row := range p.async[i*2 : i*2+6] {
		least = min(least, row[0], row[1], row[2])
	}
	return least
}

// bestOfAll returns about the least time with up to 250 partitions in a row, or 0 if the text does
// not give it.
func (p *publishedBatch) bestOfAll(cut search.Partition) float64 {
	speedup := p.bestHeterogeneous
	if cut == search.Adjusted {
		speedup = p.bestAdjusted
	}
	if speedup == 0 {
		return 0
	}
	return p.sequential / speedup
}
