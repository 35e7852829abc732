//go:build race

package search

func init() { underRace = true }
