package toy

import (
	"context"
	"testing"
)

// The test needs the guard of empty lists, that of negative numbers, the border at 9 and the slack.
// It needs neither the context's nor the clone, nor the lock, nor the margin for rounding.
func TestSum(t *testing.T) {
	if _, err := Sum(context.Background(), nil); err == nil {
		t.Error("no error for no numbers")
	}
	if sum, err := Sum(context.Background(), []int{1, -1, 9, 10, 5}); sum != 12 || err != nil {
		t.Error(sum, err)
	}
	if s := Sorted([]int{2, 1}); s[0] != 1 {
		t.Error(s)
	}
	var c Counter
	c.Add("a")
	if !Below(1, 2) || Below(2, 1) {
		t.Error("1 is not below 2")
	}
}
