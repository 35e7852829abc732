package generations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/collocate/collocate/internal/given"
)

// Lease is the right to merge segments or to collect garbage, for some time. It keeps processes
// from doing the same work at once. Nothing is lost or mixed if two of them do.
type Lease struct {
	x      *Index
	number uint64
}

// leased is the content of a lease's object. The time runs from when the store made it.
type leased struct {
	Holder  string  `json:"holder"`
	Seconds float64 `json:"seconds"`
}

// Lease takes the lease for some time. If another process holds it, the error wraps ErrLeased and
// says who and how long still. holder describes this process in such errors.
func (x *Index) Lease(ctx context.Context, holder string, d time.Duration) (*Lease, error) {
	list, err := x.store.List(ctx, leasesFolder, 1)
	if err != nil {
		return nil, fmt.Errorf("take the lease: %w", err)
	}
	l := &Lease{x: x, number: 1}
	if len(list) > 0 {
		n, ok := numberOf(leasesFolder, list[0].Name)
		if !ok {
			return nil, fmt.Errorf("take the lease: %w: %s", ErrForeign, list[0].Name)
		}
		old := leased{Holder: "an unknown process"}
		data, err := x.store.Read(ctx, list[0].Name, 1<<16)
		if err == nil {
			err = json.Unmarshal(data, &old)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("take the lease: %s: %w", list[0].Name, err)
		}
		now, err := x.store.Now(ctx)
		if err != nil {
			return nil, fmt.Errorf("take the lease: %w", err)
		}
		left := list[0].Modified.Add(time.Duration(old.Seconds * float64(time.Second))).Sub(now)
		if old.Seconds > 0 && left > 0 { // 0 seconds: it was given back
			return nil, fmt.Errorf("%w: %s, for another %v", ErrLeased, old.Holder, left.Round(time.Second))
		}
		l.number = n + 1
	}
	switch err := l.write(ctx, holder, d); {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("%w: it was taken just now", ErrLeased)
	case err != nil:
		return nil, fmt.Errorf("take the lease: %w", err)
	}
	return l, nil
}

// write makes the object of a lease, and removes the one before.
func (l *Lease) write(ctx context.Context, holder string, d time.Duration) error {
	data, err := json.Marshal(leased{holder, d.Seconds()})
	if err != nil {
		return err
	}
	if err := l.x.store.Create(ctx, numbered(leasesFolder, l.number), data); err != nil {
		return err
	}
	if l.number == 1 {
		return nil
	}
	return l.x.store.Delete(ctx, numbered(leasesFolder, l.number-1))
}

// Renew makes the lease last for d from now. The error wraps fs.ErrExist if another process has
// taken it meanwhile.
func (l *Lease) Renew(ctx context.Context, holder string, d time.Duration) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	l.number++
	return l.write(ctx, holder, d)
}

// End gives the lease back.
func (l *Lease) End(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	l.number++
	err := l.write(ctx, "nobody", 0)
	if errors.Is(err, fs.ErrExist) { // it has expired, and is another's
		return nil
	}
	return err
}
