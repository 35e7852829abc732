package serve

import "time"

// Limits bounds the work that clients can cause. A field that is zero means its default.
type Limits struct {
	// Words is the largest number of words in a query; 256 by default.
	Words int
	// Queries is the largest number of queries in a batch; 10,000 by default.
	Queries int
	// Time is the longest time for one query, waiting included; 10 seconds by default.
	Time time.Duration
	// BatchTime is the longest time for a batch, waiting included; one minute by default.
	BatchTime time.Duration
	// Wait is the longest time that a short query waits for a core before it is refused; one second
	// by default. Long queries, batches and mining wait three times as long.
	Wait time.Duration
	// Waiting is the largest number of waiting requests; 512 by default. A single client may have
	// an eighth of that.
	Waiting int
	// Hold is the longest delay of a refusal for clients that keep sending requests that are
	// refused; one second by default. A negative value disables the delay.
	Hold time.Duration
	// Connections is the largest number of open connections; by default 16,384, or fewer if the
	// system allows fewer open files.
	Connections int
	// Document is the largest size of a document that is added, in bytes of JSON; 16 MB by default.
	Document int64
	// Requests is the largest number of requests that a client may send in a minute; 0 means any.
	// Clients are told apart by token, or else by address.
	Requests int
	// Written is the largest number of bytes of documents that a client may send in a day; 0 means
	// any.
	Written int64
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{{&l.Words, 256}, {&l.Queries, 10_000}, {&l.Waiting, 512}, {&l.Connections, 16_384}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&l.Time, 10 * time.Second}, {&l.BatchTime, time.Minute}, {&l.Wait, time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if l.Document <= 0 {
		l.Document = 16e6
	}
	if l.Hold == 0 {
		l.Hold = time.Second
	}
	return l
}

// Bounds that no option changes.
const (
	maxBody    = 1 << 20          // bytes of the body of a POST
	maxHeader  = 1 << 16          // bytes of a request line with its headers
	patience   = 30 * time.Second // with clients that neither send nor read
	headerTime = 10 * time.Second // to receive the headers of a request
	idleTime   = 2 * time.Minute  // between requests of a connection
)
