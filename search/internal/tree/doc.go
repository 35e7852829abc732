// Package tree answers the question: which documents match a structured query, and which are best?
//
// A tree of package query becomes a tree of nodes in each segment of the index (plan.go): words are
// analyzed and looked up, and patterns become words of the dictionary (expand.go). An exec answers
// a query on one segment, a plan on all of them. The strategies to find the k best are listed in
// treePlan (tree_plan.go). Queries of words go to the engines of package eval, others to
// conjunction.go, sparse.go, phrase.go or, if no other strategy fits, to rank.go. All documents
// that a node matches are found by sets.go, their number by count.go, and their facets and their
// order by a field by gather.go.
//
// Invariants:
//   - The nodes of all segments form trees of the same shape, and words have the counts of all.
//   - Every strategy gives the answers and the scores of the definition below, to the bit.
//   - Documents are offered to a ranking in rising order, segment by segment: of equal scores the
//     first wins.
//
// # Definition
//
// Which documents match is defined in package query. The score of a document is the float32 sum, in
// the order of the tree, of the scores of its matching leaves. A leaf counts only if all of its
// ancestors match and none is a Not or a Filter. A word has the score that the model gives it. A
// phrase or Near that occurs n times has the sum of the scores of its words, each with term
// frequency n. A pattern is scored as one word with all occurrences of the words that it expands to
// and the document frequency of the most common of them. A Boost multiplies the weights of the
// words. Equal words next to each other in an Or or And are one word with the sum of the weights.
//
// A phrase occurs at every position where its words follow each other. Occurrences with a slop, and
// those of Near, are counted greedily from the beginning of the document: the one that ends first,
// then the one that ends first among those after it, and so on.
package tree
