package serve

import "time"

// Limits bound what clients can make the server do. A zero field means its default.
type Limits struct {
	// Words is the most words of a query: 256.
	Words int
	// Queries is the most queries of a batch: 10,000.
	Queries int
	// Time is how long one query may take, waiting included: 10 seconds.
	Time time.Duration
	// BatchTime is how long a batch may take, waiting included: a minute.
	BatchTime time.Duration
	// Wait is how long a short query waits for a core before it is refused: one second. Long
	// queries, batches and mining wait three times as long.
	Wait time.Duration
	// Waiting is how many requests may wait: 512. One client may fill an eighth of that.
	Waiting int
	// Hold is how long refusals are held back, at most, from clients that keep sending what is
	// refused: one second. Negative: not at all.
	Hold time.Duration
	// Connections is how many may be open: 16,384, or fewer if the system allows fewer files.
	Connections int
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
	if l.Hold == 0 {
		l.Hold = time.Second
	}
	return l
}

// Bounds that no option changes.
const (
	defaultK    = 10
	snippetSize = 200              // bytes
	maxBody     = 1 << 20          // bytes of a POST
	maxHeader   = 1 << 16          // bytes of a request line with its headers
	patience    = 30 * time.Second // with clients that do not send or do not read
	headerTime  = 10 * time.Second // for the headers of a request
	idleTime    = 2 * time.Minute  // between requests of a connection
)
