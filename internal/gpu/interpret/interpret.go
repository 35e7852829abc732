// Package interpret lets programs run kernels in the interpreter of package emu, where the
// environment says so (gpu.EmulateEnv). The command and the tests import it for that effect; a
// program that only searches does without the interpreter.
package interpret

import (
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/driver"
	"github.com/collocate/collocate/internal/gpu/emu"
	_ "github.com/collocate/collocate/internal/gpu/real" // the kernels
)

func init() {
	gpu.RegisterInterpreter(func() driver.Device { return emu.New(emu.Options{Memory: 4 << 30}) })
}
