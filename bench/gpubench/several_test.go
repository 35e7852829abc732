package gpubench

import "testing"

func TestSeveral(t *testing.T) { tryAll(t, severalJob, []int{0, 1, 300}) }
