// Package gpu offers the engines a device: memory, streams, kernels and graphs, all freed
// explicitly. Two drivers run the same PTX: NVIDIA's, loaded at run time without cgo, and an
// interpreter.
//
//	dev, err := gpu.Open(0)             // errors.Is(err, gpu.ErrUnavailable): use the CPU
//	defer dev.Close()                   // returns an error if anything was not freed
//	s, err := dev.NewStream()
//	defer s.Free()
//	x, err := gpu.Alloc[uint32](dev, n) // *gpu.OutOfMemory says how much is free
//	defer x.Free()
//	k, err := dev.Kernel(source, "double_u32") // compiled on first use
//	err = x.Upload(s, host)
//	err = s.Launch(k, gpu.Grid(blocks, 256), x.Arg(), gpu.U32(uint32(n)))
//	err = x.Download(ctx, s, host)
//
// The garbage collector frees nothing of this. A stream belongs to one goroutine at a time; any
// number of goroutines may use a device. Work on a stream runs in order and asynchronously: Sync
// waits for it and returns its errors. Some errors (a bad address in a kernel, a trap) destroy the
// device's context for this process: every later call returns ErrDead, and the caller continues on
// the CPU.
package gpu
