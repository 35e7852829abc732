// Package real lets programs use GPUs: it registers the driver, and the kernels of packages that
// are also useful without them. Programs import it as package github.com/collocate/collocate/gpu.
package real

import (
	_ "github.com/collocate/collocate/dict/kernels"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/cuda"
	"github.com/collocate/collocate/internal/gpu/driver"
	_ "github.com/collocate/collocate/internal/gpu/prim/kernels"
	"github.com/collocate/collocate/internal/gpu/ptx"
	_ "github.com/collocate/collocate/internal/gpu/words/kernels"
	_ "github.com/collocate/collocate/weigh/kernels"
)

func init() {
	gpu.RegisterParser(func(text string) ([]driver.Entry, error) {
		m, err := ptx.Shared(text)
		if err != nil {
			return nil, err
		}
		var list []driver.Entry
		for _, k := range m.Kernels {
			list = append(list, driver.Entry{Name: k.Name, Params: k.Params, ParamBytes: k.ParamBytes,
				Static: k.StaticShared(), MaxThreads: k.MaxThreads})
		}
		return list, nil
	})
	gpu.RegisterDriver(gpu.Driver{Devices: cuda.Devices, Open: cuda.Open, OpenContext: cuda.OpenContext})
}
