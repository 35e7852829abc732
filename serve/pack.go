package serve

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/freelist"
)

// packFrom is the size from which answers are compressed, in bytes. A shorter one fits in one
// packet with its headers, so to compress it would cost time and save none.
const packFrom = 1400

// packer compresses answers.
type packer struct {
	zstd *zstd.Encoder
	gzip *gzip.Writer
	out  bytes.Buffer
}

var packers = freelist.New(func() *packer {
	p := &packer{}
	// No errors: the options are valid. The window is small, since each encoder keeps several.
	p.zstd, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(128<<10))
	p.gzip, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return p
})

// pack compresses a text and returns it until the next call.
func (p *packer) pack(coding string, text []byte) []byte {
	p.out.Reset()
	if coding == "zstd" {
		p.out.Grow(len(text) / 2)
		return p.zstd.EncodeAll(text, p.out.AvailableBuffer())
	}
	p.gzip.Reset(&p.out)
	p.gzip.Write(text) // to memory: cannot fail
	p.gzip.Close()
	return p.out.Bytes()
}

// packing compresses a stream. Flush sends all that was written.
type packing interface {
	io.WriteCloser
	Flush() error
}

// stream returns a stream that writes to w, until the next call.
func (p *packer) stream(coding string, w io.Writer) packing {
	if coding == "zstd" {
		p.zstd.Reset(w)
		return p.zstd
	}
	p.gzip.Reset(w)
	return p.gzip
}

// codingOf returns the better of zstd and gzip that a client accepts, or "".
func codingOf(h http.Header) (best string) {
	weight := 0.0
	for _, list := range h["Accept-Encoding"] {
		for item := range strings.SplitSeq(list, ",") {
			name, param, _ := strings.Cut(strings.TrimSpace(item), ";")
			name = strings.ToLower(strings.TrimSpace(name))
			if name != "zstd" && name != "gzip" {
				continue
			}
			q := 1.0
			if value, ok := strings.CutPrefix(strings.TrimSpace(param), "q="); ok {
				q, _ = strconv.ParseFloat(value, 64)
			}
			if q > weight || q == weight && q > 0 && name == "zstd" {
				best, weight = name, q
			}
		}
	}
	return best
}

// write sends a text, compressed if it is long enough and the client accepts that.
func (x *exchange) write(status int, kind string, text []byte) {
	h := x.w.Header()
	if len(text) >= packFrom {
		h["Vary"] = append(h["Vary"], "Accept-Encoding")
		if coding := codingOf(x.r.Header); coding != "" {
			h["Content-Encoding"] = []string{coding}
			p := packers.Get()
			defer packers.Put(p)
			if p.out.Cap() > largeReply {
				p.out = bytes.Buffer{} // of an answer whose size was rare
			}
			text = p.pack(coding, text)
		}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	x.begin(status, kind)
	x.w.Write(text)
}

// Answers that depend on the URL and on what the server has opened have a tag for the latter: of a
// generation of an index, or of the process. It is weak, since times and statistics in an answer
// may differ. Another process has other tags, as its options may be others.

var tagCount atomic.Uint64

func newTag() []string {
	return []string{`W/"` + requestPrefix + strconv.FormatUint(tagCount.Add(1), 10) + `"`}
}

// processTag is the tag of answers without an index.
var processTag = newTag()

// revalidate lets clients keep an answer that they ask for again each time.
var revalidate = []string{"no-cache"}

// unchanged sets the tag of the request, and answers it if the client has an answer with that tag.
func (x *exchange) unchanged() bool {
	x.tag = processTag
	if x.g != nil {
		x.tag = x.g.tag // nil for a root, whose shards change by themselves
	}
	x.tag = tagged(x.tag, rowsWanted(x.r.Header))
	has := x.r.Header["If-None-Match"]
	if has == nil || x.tag == nil {
		return false
	}
	opaque := strings.TrimPrefix(x.tag[0], "W/")
	for _, list := range has {
		if strings.Contains(list, opaque) {
			h := x.w.Header()
			x.cacheable()
			h["Vary"] = append(h["Vary"], "Accept-Encoding")
			x.w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
