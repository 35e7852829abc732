package gpu

import (
	"context"
	"time"
)

// Job is a sequence of operations on one stream of a session, with memory from an arena. It keeps
// the first error; after it, all operations do nothing. So errors are checked where the host uses a
// result, and at the end:
//
//	j := session.Begin(ctx, session.Streams[0], kept.Arena, trace)
//	x := gpu.Put(j, values)
//	sums := gpu.Make[uint64](j, len(values))
//	j.Each(source, "square", x.Len(), x.Arg(), gpu.U64(uint64(x.Len())))
//	j.Do(func() error { return prim.InclusiveScan(j.Stream, j.Arena, x, sums) })
//	j.Stage("sums")
//	out := gpu.Get(j, sums, x.Len())
//	return out, j.End()
type Job struct {
	Ctx    context.Context // ends waits
	Stream *Stream
	Arena  *Arena

	clock *Clock
	trace func(stage string, took time.Duration)
	err   error
}

// Begin begins a job. The arena may be set later. trace, unless it is nil, is called at the end
// with the time of each stage.
func (s *Session) Begin(ctx context.Context, on *Stream, a *Arena,
	trace func(stage string, took time.Duration)) *Job {
	j := &Job{Ctx: ctx, Stream: on, Arena: a, trace: trace}
	if trace != nil {
		j.clock = NewClock(s.Dev)
		j.Fail(j.clock.Mark(on, ""))
	}
	return j
}

// End waits for the stream, even if the context is cancelled, as the memory will be reused. It
// returns the first error.
func (j *Job) End() error {
	j.Fail(j.Stream.Sync(context.WithoutCancel(j.Ctx)))
	if j.clock != nil {
		j.Do(func() error {
			return j.clock.Stages(func(name string, took time.Duration, _ bool) { j.trace(name, took) })
		})
		j.Fail(j.clock.Free())
		j.clock = nil
	}
	return j.err
}

// Err returns the first error.
func (j *Job) Err() error { return j.err }

// Fail keeps an error, unless it is nil or there was one before.
func (j *Job) Fail(err error) {
	if j.err == nil {
		j.err = err
	}
}

// Do calls f, unless there was an error.
func (j *Job) Do(f func() error) {
	if j.err == nil {
		j.err = f()
	}
}

// Stage names what the stream did since the previous stage.
func (j *Job) Stage(name string) {
	j.Do(func() error { return j.clock.End(j.Stream, name) })
}

// Sync waits for the stream.
func (j *Job) Sync() { j.Do(func() error { return j.Stream.Sync(j.Ctx) }) }

// Launch starts a kernel, unless the grid is empty.
func (j *Job) Launch(src *Source, kernel string, dim Dim, args ...Arg) {
	j.Do(func() error { return j.Stream.Start(src, kernel, dim, args...) })
}

// Each starts a kernel with one thread for each of n items, in blocks of Threads threads.
func (j *Job) Each(src *Source, kernel string, n int, args ...Arg) {
	j.Do(func() error { return j.Stream.Each(src, kernel, Threads, n, args...) })
}

// Runner is a Job, or a struct that has one embedded.
type Runner interface{ self() *Job }

func (j *Job) self() *Job { return j }

// Make takes memory for n values, which are undefined.
func Make[T any](r Runner, n int) (b Buffer[T]) {
	j := r.self()
	j.Do(func() (err error) {
		b, err = Take[T](j.Arena, n)
		return err
	})
	return b
}

// Zeros takes memory for n values, all zero.
func Zeros[T any](r Runner, n int) Buffer[T] {
	j := r.self()
	b := Make[T](j, n)
	j.Do(func() error { return b.Zero(j.Stream) })
	return b
}

// Put copies values to the device.
func Put[T any](r Runner, values []T) Buffer[T] {
	j := r.self()
	b := Make[T](j, len(values))
	j.Do(func() error { return b.Upload(j.Stream, values) })
	return b
}

// Get waits for the stream and returns the first n values of a buffer: zeros after an error.
func Get[T any](r Runner, b Buffer[T], n int) []T {
	values := make([]T, n)
	Read(r, b, values)
	return values
}

// Read is Get into a slice, which stays as it is after an error.
func Read[T any](r Runner, b Buffer[T], to []T) {
	if j := r.self(); len(to) > 0 {
		j.Do(func() error { return b.Download(j.Ctx, j.Stream, to) })
	}
}
