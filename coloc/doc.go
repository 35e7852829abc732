// Package coloc finds co-location patterns: sets of kinds of places whose points are often close
// together, such as {cafe, bank}.
//
// Mine returns the patterns of a set of points, which package points reads from files. NewSurvey
// does the same for callers that have more questions about the same points: Rules, Significance,
// Quotients, Instances, and maps (WriteSVG, WriteGeoJSON, WriteGeoPackage). NewReport adds names to
// a result, for printing and JSON:
//
//	in, err := points.ReadFile("places.csv", points.ReadOptions{CRS: points.WGS84})
//	opt := coloc.Options{Distance: 100, MinPrevalence: 0.2}
//	result, err := coloc.Mine(ctx, in.Set, opt)
//	err = coloc.NewReport(in.Set, result).WriteTable(os.Stdout)
//
// # Definitions
//
// The input is a set of points, each with a position and a feature (its kind). Two different points
// are neighbours when their distance is at most d. An instance of a set of features is one point of
// each, every two of them neighbours. The participation ratio of a feature in a set is the share of
// the feature's points that occur in at least one instance of the set. The participation index of
// the set is the least ratio of its features. A set of two or more features is prevalent when its
// index reaches a threshold. A superset is never more prevalent than its subsets, so the maximal
// prevalent sets determine all others.
//
// # Example
//
// Four points of A, five of B and three of C (Huang, Shekhar and Xiong 2004), d = 2.95:
//
//	A (1.75,1.75) (5.45,3.75) (8.5,3.25) (4.25,5)
//	B (2.1,0.5) (10.65,0.85) (13.74,3.9) (6.25,1.35) (15.1,6)
//	C (8.65,1) (0.1,3.3) (14.2,5.5)
//
// {A, B} has the instances (A1,B1), (A2,B4) and (A3,B4). Three of four A and two of five B take
// part, so its index is min(3/4, 2/5) = 0.4. That of {A, C} is 1/2, that of {B, C} 2/3. At a
// threshold of 0.4 these three are the maximal patterns. {A, B, C} has an index of 0.2, and at that
// threshold it is the only maximal pattern.
//
// # Exactness
//
// Distances are compared as squares in float64, each product rounded before the sum: dx*dx + dy*dy
// <= d*d, without a root and without fused multiply-add. On the sphere the squared chord between
// unit vectors takes the place of the squared distance. Ratios are compared by division:
// count/total >= threshold. Counts are integers. So every algorithm, every number of cores and
// every machine gives the same patterns and counts, ordered by length, then by names.
//
// # Algorithms
//
// Auto merges points at the same position into a weighted place, joins places on a grid, counts all
// pairs in one pass over the neighbourhoods, and searches larger sets depth first. Each place has a
// profile: the maximal feature sets of the cliques through it. The profile tells whether a point
// takes part in a set. Where a profile would be too long, a single witness clique is searched
// instead. Instances are never listed.
//
// SGCT is the sparse-graph and condensed-tree algorithm (Yao, Peng, Yang and Chi 2016) as the
// Poznań thesis of 2017 implements it. Joinless (Yoo and Shekhar 2006), iCPI-tree (Wang, Bao and Lu
// 2009) and Co-location Miner (Shekhar and Huang 2001) are the older ones that the thesis
// describes. All of these list instances; they exist for comparison.
//
// # On a GPU
//
// Auto and SGCT also run on a GPU, with the same result. The whole job runs there: points are
// copied to the device, patterns are copied back. One warp computes the profile of a place. The
// sets of all profiles become bit columns, one for each feature, and the points that take part in a
// pattern are counted by ANDing its columns (see kernels/lattice.cu). The lattice of sets is
// searched in rounds, over a stack in device memory. With nearest neighbours, or more than 64
// features, CPU cores join the points first. They also take over the patterns around places whose
// profiles are too long for a warp.
//
// Experimental: it may change with any version; package collocate says what may not.
package coloc
