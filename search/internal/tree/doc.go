// Package tree answers the question: which documents does a query of the language match, and which
// are best?
//
// A tree of package query becomes a tree of nodes in each segment of the index (plan.go): words are
// analyzed and looked up, and patterns become words of the dictionary (expand.go). An exec answers
// a query on one segment, a plan on all of them. treePlan (tree_plan.go) lists the strategies to
// find the k best: queries of words go to the engines of package eval, others to conjunction.go,
// sparse.go, phrase.go or, if no other strategy fits, to rank.go. sets.go finds all documents that
// a node matches, count.go how many these are, and gather.go their facets and their order by a
// field.
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
// the order of the tree, of what the leaves give that match and score: whose every ancestor
// matches, and of which none is a Not or a Filter. A word gives what the model says. A phrase or
// Near that occurs n times gives the sum of what the model says of each of its words, as if the
// document had each n times. A pattern is one word that has all occurrences of the words that fit;
// it is in as many documents as the commonest of them. A Boost multiplies the weights of the words.
// Of the words that stand side by side in an Or or And, equal ones are one with the sum of the
// weights.
//
// A phrase occurs at every place where its words follow each other. Occurrences with a slop, and
// those of Near, are counted from the beginning of the document: the one that ends first, then the
// one that ends first of those behind it, and so on.
package tree
