// Package vectors finds words with similar meanings. It makes word vectors from a co-occurrence
// matrix, by GloVe or by a singular value decomposition, and compares them:
//
//	r, err := cooccur.Open("news.cooc")
//	v, err := vectors.TrainGloVe(ctx, r, vectors.GloVeOptions{Dim: 100})
//	list, err := v.Similar("membrane", 10, 0)
//
// # GloVe
//
// [TrainGloVe] minimises J = sum over the cells of f(X_ij) (w_i . v_j + b_i + c_j - ln X_ij)^2 with
// f(x) = min(1, (x/XMax)^Alpha), by AdaGrad (Pennington, Socher and Manning 2014). The vector of a
// word is w + v, and biases learn at a rate of 1, as in Stanford's program. The order of cells
// depends only on the matrix and the seed. It allows many cells to be trained on at the same time
// with the same result as one after the other. So the result is the same, to the bit, on one core,
// on many and on a GPU.
//
// # SVD
//
// [TrainSVD] factors the matrix of positive pointwise mutual information, with context distribution
// smoothing 0.75 and a shift (Levy, Goldberg and Dagan 2015), by a randomised decomposition with
// power iterations (Halko, Martinsson and Tropp 2011), which end at a stated residual. The vector
// of a word is its row of U S^Eigen, with Eigen 0.5. It, too, is the same on every engine.
//
// # Comparing
//
// The similarity of two words is the cosine of their vectors. Vectors.Similar compares a word with
// all others, exactly; a Searcher compares many words at once, on CPU cores or a GPU.
// Vectors.Analogy finds the word that is to c what b is to a, by 3CosAdd. Vectors.Similarity and
// Searcher.Analogies evaluate both against human judgments.
//
// Experimental: it may change with any version; package collocate says what may not.
package vectors
