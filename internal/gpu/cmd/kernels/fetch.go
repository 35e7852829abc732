//go:build linux && !nogpu

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/collocate/collocate/internal/atomicfile"
)

// The wheels of nvidia-cuda-nvrtc-cu11 11.8.89 on PyPI, pinned by hash.
var wheels = map[string]struct{ url, sha256 string }{
	"amd64": {
		"https://files.pythonhosted.org/packages/60/44/202e027c224c26e15a53f01c5c7604c7f6b4fd368882d3164ea08fead207/nvidia_cuda_nvrtc_cu11-11.8.89-py3-none-manylinux2014_x86_64.whl",
		"a8d02f3cba345be56b1ffc3e74d8f61f02bb758dd31b0f20e12277a5a244f756",
	},
	"arm64": {
		"https://files.pythonhosted.org/packages/1d/ad/58a9f86b0280190582691b1141ac3678c08f698d3d6161eed5cbe4e43b46/nvidia_cuda_nvrtc_cu11-11.8.89-py3-none-manylinux2014_aarch64.whl",
		"8ab17ed51e7c4928f7170a0551e3e3b42f89d973bd267ced9688c238b3e10aef",
	},
}

const (
	nvrtcLib    = "libnvrtc.so.11.2"
	builtinsLib = "libnvrtc-builtins.so.11.8"
)

// fetch returns a folder with the compiler's two libraries.
func fetch() (string, error) {
	w, ok := wheels[runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("no pinned compiler for %s", runtime.GOARCH)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "collocate", "nvrtc-"+w.sha256[:16])
	if _, err := os.Stat(filepath.Join(dir, nvrtcLib)); err == nil {
		return dir, nil
	}
	fmt.Fprintln(os.Stderr, "kernels: fetching", path.Base(w.url))
	resp, err := http.Get(w.url)
	if err != nil {
		return "", fmt.Errorf("fetch the compiler: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("fetch the compiler: %s: %s", w.url, resp.Status)
	}
	wheel, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", fmt.Errorf("fetch the compiler: %w", err)
	}
	if sum := sha256.Sum256(wheel); hex.EncodeToString(sum[:]) != w.sha256 {
		return "", fmt.Errorf("fetch the compiler: %s: sha256 is %x, want %s", w.url, sum, w.sha256)
	}
	return dir, unpack(wheel, dir)
}

// unpack writes the wheel's libraries to dir. The one by which fetch recognises a complete folder
// comes last.
func unpack(wheel []byte, dir string) error {
	z, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		return fmt.Errorf("unpack the compiler: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, want := range []string{builtinsLib, nvrtcLib} {
		found := false
		for _, f := range z.File {
			if !strings.HasSuffix(f.Name, "/"+want) {
				continue
			}
			r, err := f.Open()
			if err != nil {
				return fmt.Errorf("unpack the compiler: %w", err)
			}
			data, err := io.ReadAll(r)
			r.Close()
			if err != nil {
				return fmt.Errorf("unpack the compiler: %s: %w", f.Name, err)
			}
			if err := writeFile(filepath.Join(dir, want), data); err != nil {
				return err
			}
			found = true
		}
		if !found {
			return fmt.Errorf("unpack the compiler: the wheel has no %s", want)
		}
	}
	return nil
}

func writeFile(path string, data []byte) error {
	return atomicfile.WriteFile(path, func(f *atomicfile.File) error {
		_, err := f.Write(data)
		return err
	})
}
