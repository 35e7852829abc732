package gpubench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
)

// apart writes an index whose words never co-occur: document d contains only word d mod words. A
// query of two such words prunes nothing, since by the bounds any document could also have a good
// posting in the other list. So all codes and all offsets are read, three bytes per posting.
func apart(dir string, docs, words int) error {
	w, err := index.Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	rng := rand.New(rand.NewPCG(7, 7))
	lengths := make([]uint32, docs)
	for i := range lengths {
		lengths[i] = uint32(math.Exp(6.3+0.9*rng.NormFloat64())) + 8
	}
	if err := w.SetDocuments(index.Documents{Analyzer: "whitespace", Lengths: lengths, ID: strconv.Itoa}); err != nil {
		return err
	}
	for i := range words {
		n := (docs - i + words - 1) / words
		list, tfs := make([]uint32, n), make([]uint32, n)
		for j := range list {
			list[j], tfs[j] = uint32(i+j*words), uint32(rng.ExpFloat64()*1.5)+1
		}
		if err := w.Add([]byte(apartWord(i)), list, tfs); err != nil {
			return err
		}
	}
	return w.Commit()
}

func apartWord(i int) string { return fmt.Sprintf("w%02d", i) }

// readingSpeed measures the throughput of the batch kernel that reads two long lists when nothing
// can be pruned. It adds up all codes; the few documents that may win are scored exactly by another
// kernel, with a figure of its own. Each list is read once, and together they exceed the device's
// cache. There are as many documents as in the thesis. With two thirds of them, the launch and the
// last blocks take a larger share of the time: 58.8% of the memory bandwidth was reached.
func readingSpeed(ctx context.Context, dev *gpu.Device, quick bool) (b []check.Bench, err error) {
	docs, words, runs := 50_200_000, 6, 20
	if quick {
		docs, runs = 3000, 1
	}
	dir, err := os.MkdirTemp("", "apart")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	if err := apart(filepath.Join(dir, "index"), docs, words); err != nil {
		return b, err
	}
	s, err := search.Open(filepath.Join(dir, "index"))
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.OpenGPU(ctx, search.GPUOptions{Device: dev.Which(0)}); err != nil {
		return b, err
	}
	var requests []search.Request
	for i := 0; i < words; i += 2 {
		requests = append(requests,
			search.Request{Words: []search.Word{{Text: apartWord(i)}, {Text: apartWord(i + 1)}},
				K: 128})
	}
	stages, err := s.ProfileBatchGPU(ctx, requests, runs, false)
	if err != nil {
		return b, err
	}
	var read, score time.Duration
	for _, x := range stages {
		switch x.Name {
		case "read":
			read = x.Time
		case "score":
			score = x.Time
		}
	}
	bytes, speed := 3*int64(docs), 0.0
	if read > 0 {
		speed = float64(bytes) / read.Seconds()
	}
	met := speed >= 0.6*readSpeed
	return []check.Bench{
		{Name: "search: scoring kernel of a batch, two long lists, every posting read",
			Seconds: read.Seconds(), Bytes: bytes, GBs: math.Round(speed / 1e9),
			Wanted: "60% of 4.47 TB/s", Met: &met},
		{Name: "search: behind it, exact scores of documents that may win", Seconds: score.Seconds()},
	}, nil
}
