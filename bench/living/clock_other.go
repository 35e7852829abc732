//go:build !linux

package main

import "time"

// clock is the time that passes: threads are only timed on Linux.
func clock() time.Duration { return time.Since(began) }

var began = time.Now()
