//go:build !purego

package index

import "github.com/collocate/collocate/internal/cpu"

// Each kernel has a single version on arm64.
func chooseForms(cpu.Level) {}
