// Package coloc finds co-location patterns: sets of kinds of places whose
// points are often close together.
//
// # Definitions
//
// The input is points with a position and a feature (their kind). Two different
// points are neighbours when their distance is at most d. An instance of a set
// of features is one point of each, every two of them neighbours. The
// participation ratio of a feature in a set is the share of the feature's points
// that occur in at least one instance of the set; the participation index of the
// set is the least ratio of its features. A set of two or more features is
// prevalent when its index reaches a threshold. Supersets are never more
// prevalent than their subsets, so the maximal prevalent sets say it all.
//
// # Example
//
// Four points of A, five of B and three of C (Huang, Shekhar and Xiong 2004),
// d = 2.95:
//
//	A (1.75,1.75) (5.45,3.75) (8.5,3.25) (4.25,5)
//	B (2.1,0.5) (10.65,0.85) (13.74,3.9) (6.25,1.35) (15.1,6)
//	C (8.65,1) (0.1,3.3) (14.2,5.5)
//
// {A, B} has the instances (A1,B1), (A2,B4) and (A3,B4): three of four A, two of
// five B take part, so its index is min(3/4, 2/5) = 0.4. {A, C} has 1/2, {B, C}
// 2/3. At a threshold of 0.4 these three are the maximal patterns; {A, B, C} has
// 0.2, and at that threshold is the only one.
//
// # Exactness
//
// Distances are compared as squares in float64, each product rounded before the
// sum: dx*dx + dy*dy <= d*d, without a root and without fused multiply-add. On
// the sphere the squared chord between unit vectors takes the place of the
// squared distance. Ratios are compared by division: count/total >= threshold.
// Counts are integers. So every algorithm, every number of cores and every
// machine gives the same patterns, counts and order: by length, then by names.
//
// # Algorithms
//
// Auto collapses points at one position to a weighted place, joins places on a
// grid, gets all pairs from one look at every neighbourhood, and searches the
// sets depth first from below. Whether a point takes part in a set is read off
// its place's profile, the maximal feature sets of cliques through the place,
// or decided by searching one witness clique where the profile would be long.
// Instances are never listed.
//
// SGCT is the sparse-graph and condensed-tree algorithm (Yao, Peng, Yang and
// Chi 2016) as the Poznań thesis of 2017 implements it. Joinless (Yoo and Shekhar
// 2006), iCPI-tree (Wang, Bao and Lu 2009) and Co-location Miner (Shekhar and Huang
// 2001) are the older ones that the thesis describes. All list instances: they are
// there to compare with.
//
// # On a GPU
//
// Auto and SGCT also run on a device, with the same result. Points go there as
// they are and patterns come back. A warp profiles a place; the sets of all
// profiles then become bit columns, one for each feature, and the points that take
// part in a pattern are counted by ANDing its columns (see kernels/lattice.cu).
// The lattice is searched in rounds over a stack in device memory. Nearest
// neighbours, and more than 64 features, are joined by the CPU cores first;
// places whose profiles are too long for a warp leave their universe to them.
package coloc
