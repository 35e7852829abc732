// Package kernels has the kernels of package dict. It is imported for that effect, by package
// github.com/collocate/collocate/gpu.
//
// Experimental: it may change with any version; package collocate says what may not.
package kernels

import (
	"embed"

	"github.com/collocate/collocate/internal/gpu"
)

//go:embed *.ptx
var files embed.FS

func init() { gpu.RegisterKernels("dict", files) }
