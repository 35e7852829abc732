//go:build linux && !nogpu

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/collocate/collocate/internal/gpu/kernelsrc"
)

// nvrtc is NVIDIA's run-time compiler, loaded as a library.
type nvrtc struct {
	createProgram  func(prog *uintptr, src, name *byte, n int32, headers, names **byte) int32
	destroyProgram func(prog *uintptr) int32
	compileProgram func(prog uintptr, n int32, options **byte) int32
	getPTXSize     func(prog uintptr, size *uintptr) int32
	getPTX         func(prog uintptr, out *byte) int32
	getLogSize     func(prog uintptr, size *uintptr) int32
	getLog         func(prog uintptr, out *byte) int32
	version        func(major, minor *int32) int32
}

func openNVRTC() (*nvrtc, error) {
	dir, err := fetch()
	if err != nil {
		return nil, err
	}
	// The compiler opens its built-ins by bare name, and finds them if they are loaded already.
	if _, err := purego.Dlopen(filepath.Join(dir, builtinsLib), purego.RTLD_NOW|purego.RTLD_GLOBAL); err != nil {
		return nil, err
	}
	lib, err := purego.Dlopen(filepath.Join(dir, nvrtcLib), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	n := &nvrtc{}
	for name, fn := range map[string]any{
		"nvrtcCreateProgram": &n.createProgram, "nvrtcDestroyProgram": &n.destroyProgram,
		"nvrtcCompileProgram": &n.compileProgram, "nvrtcVersion": &n.version,
		"nvrtcGetPTXSize": &n.getPTXSize, "nvrtcGetPTX": &n.getPTX,
		"nvrtcGetProgramLogSize": &n.getLogSize, "nvrtcGetProgramLog": &n.getLog,
	} {
		purego.RegisterLibFunc(fn, lib, name)
	}
	var major, minor int32
	n.version(&major, &minor)
	if major != 11 || minor != 8 {
		return nil, fmt.Errorf("%s is version %d.%d, want 11.8", nvrtcLib, major, minor)
	}
	return n, nil
}

// cstrings returns C strings, which the caller must keep alive.
func cstrings(ss []string) []*byte {
	out := make([]*byte, len(ss)+1)
	for i, s := range ss {
		out[i] = unsafe.StringData(s + "\x00")
	}
	return out
}

// banner is the comment block that the compiler puts before its output.
var banner = regexp.MustCompile(`(?s)\A(//[^\n]*\n|\s)*`)

func (n *nvrtc) compile(u *kernelsrc.Unit) (string, error) {
	var sources, names []string
	for _, h := range u.Headers {
		sources = append(sources, h.Source)
		names = append(names, h.Name)
	}
	options := u.Options()
	head, inc, opts := cstrings(sources), cstrings(names), cstrings(options)
	text := cstrings([]string{u.Source, u.Path})
	var prog uintptr
	if rc := n.createProgram(&prog, text[0], text[1], int32(len(names)), &head[0], &inc[0]); rc != 0 {
		return "", fmt.Errorf("%s: nvrtcCreateProgram: error %d", u.Path, rc)
	}
	defer n.destroyProgram(&prog)
	rc := n.compileProgram(prog, int32(len(options)), &opts[0])
	runtime.KeepAlive([]any{head, inc, opts, text})
	log := n.fetchText(prog, n.getLogSize, n.getLog)
	if rc != 0 {
		return "", fmt.Errorf("%s does not compile:\n%s", u.Path, log)
	}
	if strings.TrimSpace(log) != "" {
		return "", fmt.Errorf("%s compiles with warnings:\n%s", u.Path, log)
	}
	ptx := n.fetchText(prog, n.getPTXSize, n.getPTX)
	return banner.ReplaceAllString(ptx, ""), nil
}

func (n *nvrtc) fetchText(prog uintptr, size func(uintptr, *uintptr) int32, get func(uintptr, *byte) int32) string {
	var bytesN uintptr
	if size(prog, &bytesN) != 0 || bytesN == 0 {
		return ""
	}
	buf := make([]byte, bytesN)
	if get(prog, &buf[0]) != 0 {
		return ""
	}
	return string(bytes.TrimRight(buf, "\x00"))
}
