package gpubench

import "testing"

func TestVectors(t *testing.T) { tryAll(t, vectorsJob, []int{0, 31, 200}) }
