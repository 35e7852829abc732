package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
)

// The tables of answers, such as the hits of a search, are also sent as rows: one JSON object per
// line, or CSV. The header Accept says so.
const (
	asLines = "application/x-ndjson"
	asCSV   = "text/csv"
)

// rowsWanted returns the kind of rows that a client prefers to one JSON object, or "".
func rowsWanted(h http.Header) (kind string) {
	list := h["Accept"]
	if len(list) == 0 || len(list) == 1 && (list[0] == "*/*" || list[0] == "application/json") {
		return ""
	}
	best := 0.0
	for item := range strings.SplitSeq(strings.Join(list, ","), ",") {
		name, params, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q := 1.0
		for p := range strings.SplitSeq(params, ";") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
				q, _ = strconv.ParseFloat(value, 64)
			}
		}
		switch {
		case q <= best:
		case name == asLines, name == asCSV:
			kind, best = name, q
		case name == "application/json":
			kind, best = "", q
		}
	}
	return kind
}

// tagged makes the ETag of rows another than that of the same answer as an object.
func tagged(tag []string, kind string) []string {
	if kind == "" || tag == nil {
		return tag
	}
	return []string{strings.TrimSuffix(tag[0], `"`) + "-" + kind[strings.LastIndexAny(kind, "/-")+1:] + `"`}
}

// replyRows sends the table of an answer, and reports whether it has one.
func (x *exchange) replyRows(kind string, v any) bool {
	t := api.TableOf(v)
	if t == nil {
		return false
	}
	text, err := rows(kind, t, nil)
	if err != nil {
		x.failed(err)
		return true
	}
	x.cacheable()
	x.write(http.StatusOK, typeOfRows(kind), text)
	return true
}

// rows returns a table, or a later part of one.
func rows(kind string, t, first *api.Table) ([]byte, error) {
	if kind == asCSV {
		return t.CSV(nil, first)
	}
	return t.JSON(nil)
}

func typeOfRows(kind string) string {
	if kind == asCSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return kind
}

// streamPage is the number of hits that a stream of rows has in memory.
const streamPage = 10_000

// streamHits sends the hits of a query as rows, as many as it asks for. Each page is found in a
// turn of its own, all in the same generation of the index.
func (x *exchange) streamHits(a searchParams, kind string) {
	for _, p := range []struct {
		name string
		set  bool
	}{{"facet", len(a.Facet) > 0}, {"stats", a.Stats}} {
		if p.set {
			x.refuse(http.StatusBadRequest, &api.Error{Param: p.name,
				Err: errors.New("rows have no place for it: want it with application/json")})
			return
		}
	}
	var always []string
	for _, name := range a.Show {
		always = append(always, "fields."+name)
	}
	left := a.K
	if a.paged, a.most = true, streamPage; x.o.Root != nil {
		a.most = x.o.MaxK // shards have the same limit
	}
	if a.Collapse != search.NoCollapse && a.K > a.most {
		x.refuse(http.StatusBadRequest, &api.Error{Param: "k", Said: strconv.Itoa(a.K),
			Err: fmt.Errorf("documents of passages (collapse) come in one page: want at most %d", a.most)})
		return
	}
	out := lines{x: x, kind: typeOfRows(kind), control: http.NewResponseController(x.w)}
	defer out.end()
	var first *api.Table
	for {
		page := a
		page.K = min(left, a.most)
		err := x.check(&page)
		if err != nil && !out.begun {
			x.refuse(refusedAs(err), err)
			return
		}
		var found *api.Answer
		if err == nil {
			found, err = x.find(page)
		}
		if err == nil && found.Shards != nil && len(found.Shards.Missing) > 0 {
			err = fmt.Errorf("%w for all rows: %s", errNoShards, found.Shards.Missing[0])
		}
		var text []byte
		var t *api.Table
		if err == nil {
			t = api.TableOf(found, always...)
			text, err = rows(kind, t, first)
		}
		switch {
		case err != nil && !out.begun:
			x.failed(err)
			return
		case err != nil && kind == asCSV:
			x.note(statusOf(err), err)
			panic(http.ErrAbortHandler) // the client must not take what it has for the whole
		case err != nil:
			x.note(statusOf(err), err)
			text, _ = line(problemOf(statusOf(err), err)) // cannot fail
			out.write(text)
			return
		}
		left -= len(found.Hits)
		last := left <= 0 || found.Next == ""
		if first == nil {
			h := x.w.Header()
			if first = t; found.Total != nil {
				h.Set("Collocate-Total", strconv.FormatInt(*found.Total, 10))
			}
			if last {
				if found.Next != "" {
					h.Set("Collocate-Next", found.Next)
				}
				x.cacheable()
				x.write(http.StatusOK, out.kind, text)
				return
			}
		}
		if out.write(text) != nil || last {
			return
		}
		a.After, a.From, a.Count = found.Next, 0, false
	}
}
