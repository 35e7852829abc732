// Package toy has guards with and without tests, for the test of mutants.
package toy

import (
	"context"
	"errors"
	"slices"
	"sync"
)

const slack = 2

// Sum adds the numbers from 0 to 9.
func Sum(ctx context.Context, list []int) (sum int, err error) {
	if len(list) == 0 {
		return 0, errors.New("no numbers")
	}
	for _, v := range list {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if v < 0 {
			continue
		}
		if v > 9 {
			break
		}
		sum += v
	}
	return sum + slack, nil
}

// Sorted returns the numbers in ascending order.
func Sorted(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// Counter counts on several cores.
type Counter struct {
	mu sync.Mutex
	n  map[string]int
}

// Add adds one.
func (c *Counter) Add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[name]++
}

// Below reports whether a sum of a few numbers is below b, however it was rounded.
func Below(sum, b float64) bool { return sum < b*(1-0x1p-40) }
