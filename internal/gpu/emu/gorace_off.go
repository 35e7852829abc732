//go:build !race

package emu

const defaultWorkers = 0 // GOMAXPROCS
