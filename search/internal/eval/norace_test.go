//go:build !race

package eval

const raced = false
