package search

// choose turns Auto into an algorithm.
func (q *query) choose(a Algorithm) Algorithm {
	if a != Auto {
		return a
	}
	return BMM
}
