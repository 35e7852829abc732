//go:build !linux

package main

import "time"

// clock returns the wall time: only on Linux there is the CPU time of a thread.
func clock() time.Duration { return time.Since(began) }

var began = time.Now()
