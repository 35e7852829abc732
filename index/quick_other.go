//go:build !amd64 || purego

package index

// There are no quicker ways here for simple blocks, see quick_amd64.go.

func quickDocs([]byte, uint32, *[BlockSize]uint32) bool { return false }

func quickTFs([]byte, *[BlockSize]uint32) bool { return false }

func readTFs([]byte, []uint32, []uint32) bool { return false }
