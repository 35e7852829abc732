package device

import (
	"testing"
	"testing/synctest"
)

// Whoever waits for the first lists waits until all of them are there, in whatever order they come,
// or until no more come.
func TestCarried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCarried()
		var waited [4]bool
		for i, n := range []int{0, 3, 7, 9} {
			go func() {
				c.wait(n)
				waited[i] = true
			}()
		}
		for _, step := range []struct {
			do   func()
			want [4]bool
		}{
			{func() {}, [4]bool{true, false, false, false}},
			{func() { c.add(3, 7) }, [4]bool{true, false, false, false}},
			{func() { c.add(0, 3) }, [4]bool{true, true, true, false}},
			{c.end, [4]bool{true, true, true, true}},
		} {
			step.do()
			if synctest.Wait(); waited != step.want {
				t.Fatalf("waited: %v, want %v", waited, step.want)
			}
		}
	})
}
