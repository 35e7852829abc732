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

// aboutPlaces answers a question about places.
func aboutPlaces[A any](s *Server, q *api.Question) mcp.ToolHandlerFor[json.RawMessage, A] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, args json.RawMessage) (_ *mcp.CallToolResult, out A, err error) {
		question := q.New(api.MCP)
		if err := readArgs(q, args, question); err != nil {
			return nil, out, err
		}
		found, err := q.AskPlaces(ctx, &api.Places{Set: s.o.Places, Threads: s.o.Threads, Memory: s.o.Memory,
			NoFiles: true, Named: option.Parameters}, question)
		if err == nil {
			out = found.(A)
		}
		return nil, out, err
	}
}

// pairs refuses answers that are too long to read.
func (s *Server) pairs(ctx context.Context, r *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out *api.PairsAnswer, err error) {
	_, out, err = aboutPlaces[*api.PairsAnswer](s, api.PairsQuestion)(ctx, r, args)
	if err == nil && len(out.Pairs) > maxPairs {
		err = fmt.Errorf("there are %d pairs: name features with of and near, for at most %d", len(out.Pairs), maxPairs)
	}
	return nil, out, err
}

// summaryResult is a summary without the kinds of which there are too many to read.
type summaryResult struct {
	*points.Summary
	MoreKinds int `json:"more_features,omitempty" jsonschema:"number of features with fewer points, which are not listed"`
}

func (s *Server) summary(ctx context.Context, r *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out summaryResult, err error) {
	if s.o.Places.Len() == 0 {
		return nil, out, errors.New("no points: want at least one")
	}
	_, out.Summary, err = aboutPlaces[*points.Summary](s, api.SummaryQuestion)(ctx, r, args)
	if err != nil {
		return nil, out, err
	}
	if n := len(out.Features); n > maxKinds {
		out.Features, out.MoreKinds = out.Features[:maxKinds], n-maxKinds
	}
	return nil, out, nil
}
