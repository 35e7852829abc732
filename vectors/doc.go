// Package vectors answers which words mean alike: it makes vectors of words from a co-occurrence
// matrix, by GloVe or by a singular value decomposition, and compares them.
//
// # GloVe
//
// [TrainGloVe] minimises J = sum over the cells of f(X_ij) (w_i . v_j + b_i + c_j - ln X_ij)^2 with
// f(x) = min(1, (x/XMax)^Alpha), by AdaGrad (Pennington, Socher and Manning 2014). The vector of a
// word is w + v, and biases learn at a rate of 1, as in Stanford's program. Cells are taken in an
// order that depends on the matrix and the seed only. In that order many cells can be trained on at
// the same time without changing what training on them one after the other gives: the result is the
// same, to the bit, on one core, on many and on a GPU.
//
// # SVD
//
// [TrainSVD] factors the matrix of positive pointwise mutual information, with context distribution
// smoothing 0.75 and a shift (Levy, Goldberg and Dagan 2015), by a randomised decomposition with
// power iterations (Halko, Martinsson and Tropp 2011). The vector of a word is its row of U
// S^Eigen, with Eigen 0.5. It, too, is the same on every engine.
//
// # Comparing
//
// How alike two words are is the cosine of their vectors. [Vectors.Similar] compares a word with
// all others, exactly, and a [Searcher] many words at once, also on a GPU. [Vectors.Analogy]
// answers "a is to b as c is to what?" by 3CosAdd. [Vectors.Similarity] and [Searcher.Analogies]
// compare both with people's judgments.
package vectors
