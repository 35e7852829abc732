// Package tree answers the question: which documents does a query of the language match, and which
// are best?
//
// plan.go turns a tree of package query into nodes: words are analyzed and looked up, patterns
// become words of the dictionary (expand.go). sets.go finds the documents that a node matches, as a
// set, and count.go how many these are. rank.go finds the k best: queries of words go to the
// engines of eval, limited to the set of what their filters leave, or to sparse.go if that is
// little; a phrase is searched by phrase.go, block bounds first and positions last; all other trees
// are scored list by list within the set of their answers.
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
