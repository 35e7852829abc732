package cooccur

import (
	"errors"
	"testing"
	"testing/synctest"
)

// Workers that wait for a buffer end when another worker fails, and when the consumer fails.
func TestErrorsEndWorkersThatWait(t *testing.T) {
	wrong := errors.New("wrong")
	for _, producing := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			fail := func(now bool) error {
				if !now {
					return nil
				}
				synctest.Wait() // until every other worker waits
				return wrong
			}
			err := ordered(t.Context(), 4, 3, []*int{new(int)},
				func(_, unit int, _ *int) error { return fail(producing && unit == 1) },
				func(unit int, _ *int) error { return fail(!producing && unit == 1) })
			if err != wrong {
				t.Errorf("failure of the producer: %v; error %v, want %v", producing, err, wrong)
			}
		})
	}
}
