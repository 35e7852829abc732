//go:build linux && !nogpu

// Command kernels compiles every kernels/*.cu of this module to PTX beside it. It downloads the
// pinned compiler once into the user's cache folder: NVRTC 11.8 from a wheel on PyPI, checked by
// its hash. It loads the compiler as a library, so neither a CUDA toolkit nor a host compiler is
// needed. `make kernels` calls it.
//
//	go run ./internal/gpu/cmd/kernels [-n] [substring of paths...]
//
// With a CUDA 11.8 toolkit, this gives the same PTX (up to comments and register numbers):
//
//	nvcc -ptx -arch=compute_70 -std=c++17 --fmad=false -I internal/gpu/include x.cu
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/internal/gpu/kernelsrc"
)

func main() {
	dry := flag.Bool("n", false, "only say which PTX is out of date")
	force := flag.Bool("f", false, "compile all, not only what is out of date")
	flag.Parse()
	if err := run(flag.Args(), *dry, *force); err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(1)
	}
}

func run(filter []string, dry, force bool) error {
	root, err := kernelsrc.Root()
	if err != nil {
		return err
	}
	units, err := kernelsrc.Units(root)
	if err != nil {
		return err
	}
	var compiler *nvrtc
	chosen, stale := 0, 0
	for _, u := range units {
		if !wanted(u.Path, filter) {
			continue
		}
		chosen++
		out := filepath.Join(root, filepath.FromSlash(u.PTXPath()))
		old, _ := os.ReadFile(out)
		if sum, ok := kernelsrc.StampOf(string(old)); ok && sum == u.Sum() && !force {
			continue
		}
		stale++
		fmt.Println(u.Path)
		if dry {
			continue
		}
		if compiler == nil {
			if compiler, err = openNVRTC(); err != nil {
				return err
			}
		}
		ptx, err := compiler.compile(u)
		if err != nil {
			return err
		}
		if err := writeFile(out, []byte(u.Stamp()+ptx)); err != nil {
			return err
		}
	}
	switch {
	case chosen == 0:
		return fmt.Errorf("no kernels/*.cu has a path with %s", strings.Join(filter, " or "))
	case stale == 0:
		fmt.Printf("the PTX of all %d files is up to date\n", chosen)
	}
	return nil
}

func wanted(path string, filter []string) bool {
	for _, f := range filter {
		if strings.Contains(path, f) {
			return true
		}
	}
	return len(filter) == 0
}
