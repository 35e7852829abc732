package serve

import (
	"context"
	"errors"
	"net/http"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

// problem is the body of an error, in the format of RFC 9457.
type problem struct {
	Type   string `json:"type"`   // the section of /docs about Code
	Title  string `json:"title"`  // of Code
	Status int    `json:"status"` // of HTTP
	Detail string `json:"detail"` // what is wrong with this request
	Code   string `json:"code"`   // one of problemKinds
	// Parameter is the parameter that is at fault, if it is a single one.
	Parameter string `json:"parameter,omitempty"`
	Error     string `json:"error"` // older name of Detail
}

// problemKind is a kind of problem.
type problemKind struct {
	code   string
	status int
	title  string
	is     func(error) bool // nil means every other error with the status
}

// problemKinds lists the codes of problems. They are part of the API: clients compare them, so a
// code keeps its meaning. The first that fits a status and an error is taken, so the general one of
// a status comes last. docs/serving.md and openapi.json have the same list.
var problemKinds = []problemKind{
	{"unknown_parameter", 400, "The request has no such parameter", isA[*api.Unknown]},
	{"bad_parameter", 400, "A parameter has a wrong value", isA[*api.Error]},
	{"bad_request", 400, "The request is invalid", nil},
	{"no_token", 401, "The token is missing or wrong", nil},
	{"read_only_token", 403, "The token may only read", is(errReadOnly)},
	{"not_allowed", 403, "The server does not allow this", nil},
	{"no_index", 404, "There is no such index", func(err error) bool {
		return errors.Is(err, errNoIndex) || errors.Is(err, errDropped) || isAbsent("index")(err)
	}},
	{"no_document", 404, "There is no such document", isAbsent("document")},
	{"no_word", 404, "The word does not occur", func(err error) bool {
		return isA[*words.UnknownWord](err) || errors.Is(err, vectors.ErrUnknown)
	}},
	{"no_job", 404, "There is no such job", isAbsent("job")},
	{"no_text", 404, "The index stores no text", is(words.ErrNoText)},
	{"no_matrix", 404, "The server has no matrix of words", is(errNoMatrix)},
	{"no_vectors", 404, "The server has no vectors", is(errNoVectors)},
	{"no_points", 404, "The server has no places", is(errNoPoints)},
	{"not_of_root", 404, "A root does not answer this request", isAbsent("answer")},
	{"not_found", 404, "There is nothing at this address", nil},
	{"wrong_method", 405, "The address has other methods", nil},
	{"index_changed", 409, "The index has changed since the answer before", is(api.ErrIndexChanged)},
	{"index_held", 409, "Another process changes the index", is(errHeld)},
	{"conflict", 409, "The state of the server does not allow this", nil},
	{"too_large", 413, "The body is too large", nil},
	{"wrong_host", 421, "The server has other names", nil},
	{"over_quota", 429, "The client has used its quota", isA[*overQuota]},
	{"busy", 429, "The server is busy", nil},
	{"failed", 500, "The server failed", nil},
	{"too_slow", 503, "The request took too long", is(context.DeadlineExceeded)},
	{"no_encoder", 503, "The encoder gives no vectors", is(api.ErrEncoder)},
	{"no_reranker", 503, "The reranker gives no scores", is(api.ErrReranker)},
	{"store_failed", 503, "The bucket of the index cannot be reached, or refuses the change", isA[*segments.RemoteError]},
	{"stopping", 503, "The server is stopping", is(errStopping, context.Canceled)},
	{"unreadable_index", 503, "The index cannot be read any more", isFault},
	{"no_shards", 503, "No shard can answer", is(errNoShards, errNoAnswer, errMayHaveIt)},
	{"partial_answer", 503, "Some shards have not answered", isA[*partialError]},
	{"unavailable", 503, "The request cannot be answered now", nil},
}

// is returns a function that reports whether an error is one of several.
func is(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
}

// absent is the error of a thing that is not there: an index, a document, a job or an answer of a
// root.
type absent struct {
	error
	what string
}

func isAbsent(what string) func(error) bool {
	return func(err error) bool {
		a, ok := errors.AsType[absent](err)
		return ok && a.what == what
	}
}

// problemOf returns the body of an error that is answered with a status.
func problemOf(status int, err error) *problem {
	p := &problem{Title: http.StatusText(status), Status: status, Detail: said(err), Code: "failed"}
	for i := range problemKinds {
		if k := &problemKinds[i]; k.status == status && (k.is == nil || k.is(err)) {
			p.Title, p.Code = k.title, k.code
			break
		}
	}
	if status == http.StatusBadRequest || status == http.StatusConflict {
		p.Parameter = parameterOf(err)
	}
	p.Type, p.Error = "/docs#"+p.Code, p.Detail
	return p
}

// parameterOf returns the name of the parameter that an error is about, or "".
func parameterOf(err error) string {
	if e, ok := errors.AsType[*api.Unknown](err); ok {
		return e.Name
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return e.Param
	}
	return ""
}

// said returns the text of an error, with the names of parameters in place of those in Go.
func said(err error) string { return option.Parameters(err.Error()) }

// fail answers with an error.
func (x *exchange) fail(status int, err error) {
	x.send(status, "application/problem+json", problemOf(status, err))
}
