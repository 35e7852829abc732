package device

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// Parts are prepared at once and used in order, and the first error, of either, ends it.
func TestInOrder(t *testing.T) {
	numbers := func(from, to int) (all []int, _ error) {
		for i := from; i < to; i++ {
			all = append(all, i)
		}
		return all, nil
	}
	for _, n := range []int{0, 1, 7, 1000} {
		var got []int
		if err := inOrder(t.Context(), n, 7, numbers, func(some []int) error {
			got = append(got, some...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if want, _ := numbers(0, n); !slices.Equal(got, want) {
			t.Errorf("%d: got %v", n, got)
		}
	}
	bad := errors.New("bad")
	used := 0
	err := inOrder(t.Context(), 1000, 7, func(from, to int) ([]int, error) {
		if from == 350 {
			return nil, bad
		}
		return numbers(from, to)
	}, func([]int) error { used++; return nil })
	if !errors.Is(err, bad) || used != 50 {
		t.Errorf("preparing fails at part 50: %v after %d parts", err, used)
	}
	if err := inOrder(t.Context(), 1000, 7, numbers, func([]int) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("using fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = inOrder(ctx, 1000, 7, numbers, func([]int) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
