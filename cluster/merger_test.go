package cluster

import (
	"errors"
	"strings"
	"testing"
)

// fewRecords is a stream of records with the given kinds and keys.
type fewRecords struct {
	kinds string
	keys  []int64
	at    int
}

func (f *fewRecords) step() error           { f.at++; return nil }
func (f *fewRecords) raw() ([]byte, error)  { return nil, nil }
func (f *fewRecords) fault(err error) error { return err }
func (f *fewRecords) head() (k byte, at int64) {
	if f.at > len(f.keys) {
		return 0, 0
	}
	return f.kinds[f.at-1], f.keys[f.at-1]
}

// Streams are merged by key. Records of two kinds never share one: such a stream is of another job.
func TestKeysOfTwoKindsAreRefused(t *testing.T) {
	walk := func(kinds string) (keys []int64, err error) {
		streams := []stream{&fewRecords{"aa", []int64{1, 3}, 0}, &fewRecords{kinds, []int64{2, 3}, 0}}
		err = eachKey(t.Context(), streams, func(_ byte, key int64, same []stream) error {
			keys = append(keys, key)
			for _, s := range same {
				if err := s.step(); err != nil {
					return err
				}
			}
			if len(same) > 1 && key != 3 {
				return errors.New("only the last key is in both streams")
			}
			return nil
		})
		return keys, err
	}
	if keys, err := walk("aa"); err != nil || len(keys) != 3 {
		t.Errorf("keys %v, %v; want 1 to 3", keys, err)
	}
	if keys, err := walk("ab"); err == nil || !strings.Contains(err.Error(), "kinds a and b") {
		t.Errorf("keys %v, %v; want an error that names both kinds", keys, err)
	}
}
