// Package cpu answers the question: which vector instructions do the kernels use?
//
// Packages with assembly ask here and nowhere else. A kernel has versions for the levels where they
// pay, and a twin in plain Go, which defines the result; all give the same bits. The level is the
// best of the processor, or the one that COLLOCATE_SIMD names. The build tag purego leaves all
// assembly out.
package cpu

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Level is a set of vector instructions.
type Level uint8

const (
	None   Level = iota // plain Go
	NEON                // every arm64 processor: 128 bits
	AVX2                // with BMI2: Intel since Haswell, AMD since Zen; 256 bits
	AVX512              // F, VL, DQ and BW: Intel since Skylake-X, AMD since Zen 4; 512 bits
)

// variable is the environment variable that selects a level.
const variable = "COLLOCATE_SIMD"

var names = [...]string{None: "none", NEON: "neon", AVX2: "avx2", AVX512: "avx512"}

func (l Level) String() string { return names[l] }

var (
	used      Level
	errChoice error
	followers []func(Level)
)

func init() { used, errChoice = choose(os.Getenv(variable), Levels()) }

// Levels returns the levels of this processor and this build, the best first and None last.
func Levels() []Level { return append(levels(), None) }

// Used returns the level that kernels run at.
func Used() Level { return used }

// Err returns what is wrong with the level that COLLOCATE_SIMD names, if anything. Then the best
// level is used, but a program should stop.
func Err() error { return errChoice }

// choose returns the level of the given name, or the first if the name is empty.
func choose(name string, have []Level) (Level, error) {
	if name == "" {
		return have[0], nil
	}
	at := slices.Index(names[:], name)
	if at >= 0 && slices.Contains(have, Level(at)) {
		return Level(at), nil
	}
	list := make([]string, len(have))
	for i, l := range have {
		list[i] = l.String()
	}
	what := "is not a level"
	if at >= 0 {
		what = "is not available"
	}
	return have[0], fmt.Errorf("%s: %q %s: want one of %s, which this machine and build have",
		variable, name, what, strings.Join(list, ", "))
}

// Follow calls f with the level in use, now and whenever a test changes it. It is for the init
// functions of packages with kernels.
func Follow(f func(Level)) {
	followers = append(followers, f)
	f(used)
}

// Use changes the level to one of Levels. It is for tests: no kernel may run meanwhile.
func Use(l Level) {
	used = l
	for _, f := range followers {
		f(l)
	}
}
