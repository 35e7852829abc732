package vectors

import (
	"context"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

var similarSource = gpuModule("similar")

const (
	similarQueries = 8  // queries that share one read of the words, as in kernels/similar.cu
	similarBatch   = 64 // queries whose scores are on the device at once
)

// deviceVectors are vectors on a device.
type deviceVectors struct {
	v           *Vectors
	g           *card
	data, scale gpu.Buffer[float32]
	used        gpu.Mark // memory after it is for one batch
}

// onGPU uploads the vectors to a device.
func (v *Vectors) onGPU(g *card) (*deviceVectors, error) {
	n := len(v.Words)
	batch := similarBatch*(roomFor(n, 4)+roomFor(v.Dim+32, 4)) + roomFor(n, 64) + 1<<20
	j := g.begin(context.Background(), roomFor(len(v.Data), 4)+roomFor(n, 4)+batch,
		"finding similar words")
	d := &deviceVectors{v: v, g: g, data: gpu.Put(j, v.Data), scale: gpu.Put(j, v.scale)}
	if err := j.End(); err != nil {
		return nil, err
	}
	d.used = g.arena.Mark()
	return d, nil
}

func (d *deviceVectors) nearest(ctx context.Context, queries []query, k int) (out [][]Near,
	err error) {
	// With a large k there is less memory for scores, so batches are smaller.
	n := len(d.v.Words)
	size := max(1, min(similarBatch, similarBatch*n/(8*min(k+8, n))))
	for part := range slices.Chunk(queries, size) {
		near, err := d.batch(ctx, part, k)
		if err != nil {
			return nil, err
		}
		out = append(out, near...)
	}
	return out, nil
}

// batch scores all words for some queries, and selects the best of each.
func (d *deviceVectors) batch(ctx context.Context, queries []query, k int) ([][]Near, error) {
	j := d.g.session.Begin(ctx, d.g.stream, d.g.arena.Arena, nil)
	j.Do(func() error { return j.Arena.Release(d.used) })
	n, dim := len(d.v.Words), d.v.Dim
	padded := (dim + 31) &^ 31
	host := make([]float32, len(queries)*padded)
	most := 0
	for i, q := range queries {
		copy(host[i*padded:], q.vector)
		most = max(most, len(q.except))
	}
	most = min(k+most, n) // enough, without those that are excluded
	on, scores := gpu.Put(j, host), gpu.Make[float32](j, len(queries)*n)
	grid := gpu.Dim{Threads: [3]int{256, 1, 1},
		Blocks: [3]int{(n + 31) / 32, (len(queries) + similarQueries - 1) / similarQueries, 1}}
	j.Launch(similarSource, "similar", grid, d.data.Arg(), d.scale.Arg(), gpu.U32(uint32(n)),
		gpu.U32(uint32(dim)), on.Arg(), gpu.U32(uint32(len(queries))), gpu.U32(uint32(padded)),
		scores.Arg())
	best := gpu.Make[float32](j, len(queries)*most)
	places := gpu.Make[uint32](j, len(queries)*most)
	for i := range queries {
		j.Do(func() error {
			return prim.TopK(j.Stream, j.Arena, scores.Slice(i*n, (i+1)*n), most,
				best.Slice(i*most, (i+1)*most), places.Slice(i*most, (i+1)*most))
		})
	}
	cosines, ids := gpu.Get(j, best, len(queries)*most), gpu.Get(j, places, len(queries)*most)
	if err := j.End(); err != nil {
		return nil, err
	}
	out := make([][]Near, len(queries))
	for i, q := range queries {
		out[i] = []Near{}
		for j := i * most; j < (i+1)*most && len(out[i]) < k; j++ {
			if id := int(ids[j]); !slices.Contains(q.except, id) {
				out[i] = append(out[i], Near{d.v.Words[id], float64(cosines[j])})
			}
		}
	}
	return out, nil
}
