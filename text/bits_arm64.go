//go:build !purego

package text

import "github.com/collocate/collocate/internal/cpu"

// Each kernel has one form here.
func chooseForms(cpu.Level) {}
