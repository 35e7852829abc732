package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Documents are resources with the address collocate://INDEX/ID, and each index is one with the
// address collocate://INDEX. The SDK would hold them all in a list; here a page of the list is read
// from the index, with the place where the next one begins as its cursor.

const (
	scheme      = "collocate://"
	maxResource = 1 << 20 // bytes of a text; longer ones are read in parts by the tool
	pageOfList  = 100
	maxLooked   = 20_000 // passages that a page of the list looks at
)

func (s *Server) addResources(m *mcp.Server, offers []offer) {
	for _, o := range offers {
		m.AddResource(&mcp.Resource{URI: address(o.Name, ""), Name: o.Name, Title: "The index " + o.Name,
			Description: o.line(), MIMEType: "application/json"}, s.readResource)
	}
	m.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: scheme + "{index}/{+id}", Name: "document",
		Title: "A document", Description: "The text of a document, by the index and the ID that searches return.",
		MIMEType: "text/plain"}, s.readResource)
	m.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			list, ok := r.(*mcp.ListResourcesRequest)
			if !ok || method != "resources/list" {
				return next(ctx, method, r)
			}
			cursor := ""
			if list.Params != nil {
				cursor = list.Params.Cursor
			}
			if cursor != "" {
				return s.listDocuments(ctx, cursor)
			}
			first, err := next(ctx, method, r)
			if err != nil {
				return nil, err
			}
			more, err := s.listDocuments(ctx, "0 0")
			if err != nil {
				return nil, err
			}
			all := first.(*mcp.ListResourcesResult)
			all.Resources, all.NextCursor = append(all.Resources, more.Resources...), more.NextCursor
			return all, nil
		}
	})
}

// address returns the address of a document, or of an index if the ID is empty.
func address(index, id string) string {
	at := scheme + url.PathEscape(index)
	if id != "" {
		parts := strings.Split(id, "/")
		for i, p := range parts {
			parts[i] = url.PathEscape(p)
		}
		at += "/" + strings.Join(parts, "/")
	}
	return at
}

// parseAddress is the inverse of address.
func parseAddress(uri string) (index, id string, err error) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", "", fmt.Errorf("%q: want %sINDEX/ID", uri, scheme)
	}
	index, id, _ = strings.Cut(rest, "/")
	index, err1 := url.PathUnescape(index)
	id, err2 := url.PathUnescape(id)
	return index, id, errors.Join(err1, err2)
}

// listDocuments lists documents from a cursor on: the position of an index in the list, and the
// number of a document.
func (s *Server) listDocuments(ctx context.Context, cursor string) (*mcp.ListResourcesResult, error) {
	first, number, _ := strings.Cut(cursor, " ")
	at, err1 := strconv.Atoi(first)
	from, err2 := strconv.Atoi(number)
	if err1 != nil || err2 != nil || at < 0 || from < 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("cursor %q: want nextCursor of the page before", cursor)}
	}
	out := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
	list := s.o.Indexes()
	for ; at < len(list); at, from = at+1, 0 {
		err := list[at].Read(func(x *search.Searcher) (err error) {
			from, err = listOf(ctx, x, list[at].Name, from, out)
			return err
		})
		if err != nil {
			return nil, err
		}
		if from >= 0 {
			out.NextCursor = fmt.Sprint(at, " ", from)
			return out, nil
		}
	}
	return out, nil
}

// listOf lists documents of an index, and returns where the next page begins; -1 if there is none.
func listOf(ctx context.Context, x *search.Searcher, index string, from int, out *mcp.ListResourcesResult) (int, error) {
	ix, schema := x.Index(), x.Index().Schema()
	if !ix.HasText() {
		return -1, nil
	}
	title, cut := -1, schema != nil && schema.Passages != nil
	if schema != nil {
		title = schema.Find("title")
	}
	looked := 0
	for _, s := range ix.Segments() {
		for local := max(0, from-int(s.Base)); local < s.Docs(); local++ {
			if s.Live != nil && !s.Live.Has(uint32(local)) {
				continue
			}
			doc := int(s.Base) + local
			if looked++; len(out.Resources) >= pageOfList || looked > maxLooked {
				return doc, nil
			}
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			id, err := ix.DocID(doc)
			if err != nil {
				return 0, err
			}
			if parent, n, ok := text.SplitPassageID(id); cut && ok {
				if n > 1 {
					continue
				}
				id = parent
			}
			r := &mcp.Resource{URI: address(index, id), Name: id, MIMEType: "text/plain"}
			if title >= 0 {
				values, err := ix.Stored(doc)
				if err != nil {
					return 0, err
				}
				if len(values[title]) > 0 {
					r.Title = within(string(values[title][0]), 0, longField)
				}
			}
			out.Resources = append(out.Resources, r)
		}
	}
	return -1, nil
}

// readResource reads an index or a document.
func (s *Server) readResource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := r.Params.URI
	index, id, err := parseAddress(uri)
	if err != nil {
		return nil, err
	}
	of, err := named(s.o.Indexes(), index)
	if err != nil || index == "" {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	kind, body := "text/plain", ""
	err = of.Read(func(x *search.Searcher) error {
		if id == "" {
			kind = "application/json"
			question := api.PortraitQuestion.New(api.MCP)
			d, err := api.PortraitQuestion.Ask(ctx, &api.Env{Door: api.MCP, Searcher: x}, question)
			if err != nil {
				return err
			}
			text, err := json.Marshal(d)
			body = string(text)
			return err
		}
		d, err := (&api.Show{ID: id, Around: -1}).Do(x.Index())
		switch {
		case err != nil:
			return err
		case d == nil || d.Text == nil:
			return mcp.ResourceNotFoundError(uri)
		case len(*d.Text) > maxResource:
			return fmt.Errorf("%s has %d bytes, a resource at most %d: read it in parts with the tool document", id, len(*d.Text), maxResource)
		}
		body = *d.Text
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: body}}}, nil
}
