package impactdevice

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
)

// profile answers requests in one launch, several times, and returns the best time of each stage.
func (g *Index) profile(ctx context.Context, requests []ask.Request, runs int) (best []ask.GPUStage, err error) {
	var room eval.TermsRoom
	all := make([]asked, len(requests))
	for i := range requests {
		if all[i], err = g.plan(&requests[i], &room); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		if why := all[i].fallback; why != "" {
			return nil, ask.Refuse("request %d is for the cores: %s", i, why)
		}
	}
	l := <-g.lanes
	defer func() { g.lanes <- l }()
	if l.fits(all, 0) < len(all) {
		return nil, ask.Refuse("%d requests: want at most %d", len(all), l.fits(all, 0))
	}
	defer func() {
		for _, e := range l.marks {
			err = errors.Join(err, e.Free())
		}
		l.marks = nil
	}()
	for len(l.marks) <= len(stages) {
		e, err := g.st.dev.NewEvent()
		if err != nil {
			return nil, err
		}
		l.marks = append(l.marks, e)
	}
	for range max(1, runs) {
		if _, err := g.run(ctx, l, all); err != nil {
			return nil, err
		}
		for i, name := range stages {
			took, err := l.marks[i+1].Since(l.marks[i])
			if err != nil {
				return nil, err
			}
			if len(best) == i {
				best = append(best, ask.GPUStage{Name: name, Time: took})
			}
			best[i].Time = min(best[i].Time, took)
		}
	}
	return best, nil
}
