package coloc

// degeneracyOrder orders the vertices of a graph so that each has as few later neighbours as
// possible (Matula and Beck 1983). The next vertex is always one of least remaining degree; ties go
// to the lowest number. The graph's degeneracy is the largest number of later neighbours.
func degeneracyOrder(adj [][]int32) (order []int32, degeneracy int) {
	n := len(adj)
	degree := make([]int, n)
	buckets := make([]map[int32]struct{}, n+1)
	for v := range adj {
		d := len(adj[v])
		degree[v] = d
		if buckets[d] == nil {
			buckets[d] = make(map[int32]struct{})
		}
		buckets[d][int32(v)] = struct{}{}
	}
	order = make([]int32, 0, n)
	for d := 0; len(order) < n; {
		if len(buckets[d]) == 0 {
			d++
			continue
		}
		v := int32(-1)
		for u := range buckets[d] {
			if v < 0 || u < v {
				v = u
			}
		}
		delete(buckets[d], v)
		degree[v] = -1
		order = append(order, v)
		degeneracy = max(degeneracy, d)
		for _, u := range adj[v] {
			if degree[u] < 0 {
				continue
			}
			delete(buckets[degree[u]], u)
			degree[u]--
			if buckets[degree[u]] == nil {
				buckets[degree[u]] = make(map[int32]struct{})
			}
			buckets[degree[u]][u] = struct{}{}
		}
		d = max(0, d-1)
	}
	return order, degeneracy
}
