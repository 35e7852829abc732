// Package gpu is the device as the engines see it: memory, streams, kernels and
// graphs with explicit lifetimes, over one of two drivers that run the same
// PTX: NVIDIA's, loaded at run time without cgo, and an interpreter.
//
//	dev, err := gpu.Open(0)             // errors.Is(err, gpu.ErrUnavailable): use the CPU
//	defer dev.Close()                   // an error if anything was not freed
//	s, err := dev.NewStream()
//	defer s.Free()
//	x, err := gpu.Alloc[uint32](dev, n) // *gpu.OutOfMemory says what was there
//	defer x.Free()
//	k, err := dev.Kernel(source, "double_u32") // compiled on first use
//	err = x.Upload(s, host)
//	err = s.Launch(k, gpu.Grid(blocks, 256), x.Arg(), gpu.U32(uint32(n)))
//	err = x.Download(ctx, s, host)
//
// Nothing is freed by the garbage collector. A stream belongs to one goroutine
// at a time; a device may be used by many. Work on a stream is done in order and
// later: Sync waits for it, and brings its errors. Some errors (a bad address in
// a kernel, a trap) end the device for this process: every later call returns
// ErrDead, and the caller goes on with the CPU.
package gpu
