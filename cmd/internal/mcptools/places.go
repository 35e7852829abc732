package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/points"
)

// asPlaces returns the points for a question.
func (s *Server) asPlaces() *api.Places {
	return &api.Places{Set: s.o.Places, Threads: s.o.Threads, Memory: s.o.Memory, NoFiles: true}
}

func (s *Server) places(ctx context.Context, _ *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out *api.MineAnswer, err error) {
	var ask api.Mine
	if err := readArgs(api.MineQuestion, args, &ask); err != nil {
		return nil, nil, err
	}
	if out, err = ask.Do(ctx, s.asPlaces(), nil); err != nil {
		return nil, nil, err
	}
	for i, note := range out.Notes {
		out.Notes[i] = option.Parameters(note)
	}
	return nil, out, nil
}

func (s *Server) pairs(ctx context.Context, _ *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out *api.PairsAnswer, err error) {
	var ask api.Pairs
	if err := readArgs(api.PairsQuestion, args, &ask); err != nil {
		return nil, nil, err
	}
	if out, err = ask.Do(ctx, s.asPlaces()); err != nil {
		return nil, nil, err
	}
	for i, note := range out.Notes {
		out.Notes[i] = option.Parameters(note)
	}
	if n := len(out.Pairs); n > maxPairs {
		return nil, nil, fmt.Errorf("there are %d pairs: name features with of and near, for at most %d", n, maxPairs)
	}
	return nil, out, nil
}

func (s *Server) curve(ctx context.Context, _ *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out *api.CurveAnswer, err error) {
	var ask api.Curve
	if err := readArgs(api.CurveQuestion, args, &ask); err != nil {
		return nil, nil, err
	}
	if out, err = ask.Do(ctx, s.asPlaces()); err != nil {
		return nil, nil, err
	}
	for i, note := range out.Notes {
		out.Notes[i] = option.Parameters(note)
	}
	return nil, out, nil
}

// summaryResult is a summary without the kinds of which there are too many to read.
type summaryResult struct {
	*points.Summary
	MoreKinds int `json:"more_features,omitempty" jsonschema:"number of features with fewer points, which are not listed"`
}

func (s *Server) summary(ctx context.Context, _ *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out summaryResult, err error) {
	var ask api.Summary
	if err := readArgs(api.SummaryQuestion, args, &ask); err != nil {
		return nil, out, err
	}
	if s.o.Places.Len() == 0 {
		return nil, out, errors.New("no points: want at least one")
	}
	if out.Summary, err = ask.Do(ctx, s.asPlaces()); err != nil {
		return nil, out, err
	}
	for i, w := range out.Warnings {
		out.Warnings[i] = option.Parameters(w)
	}
	if n := len(out.Features); n > maxKinds {
		out.Features, out.MoreKinds = out.Features[:maxKinds], n-maxKinds
	}
	return nil, out, nil
}
