package driver

import (
	"encoding/json"
	"testing"
)

// TestError: an error says what was being done, what went wrong, and what the compiler wrote.
func TestError(t *testing.T) {
	e := &Error{Op: "cuModuleLoadDataEx", Code: InvalidPTX, Name: "CUDA_ERROR_INVALID_PTX",
		Text: "a PTX JIT compilation failed"}
	want := "cuModuleLoadDataEx: a PTX JIT compilation failed (CUDA_ERROR_INVALID_PTX, 218)"
	if e.Error() != want {
		t.Errorf("%q, want %q", e, want)
	}
	e.Log = "line 3: unknown opcode"
	if want += ": line 3: unknown opcode"; e.Error() != want {
		t.Errorf("%q, want %q", e, want)
	}
}

// TestSticky: a fault of a kernel destroys the context, a refused call does not.
func TestSticky(t *testing.T) {
	for _, code := range []int{IllegalAddress, LaunchTimeout, Assert, HardwareStack, IllegalInstr,
		Misaligned, InvalidSpace, InvalidPC, LaunchFailed, 214, 220} {
		if !(&Error{Code: code}).Sticky() {
			t.Errorf("error %d is not sticky, want it to be", code)
		}
	}
	for _, code := range []int{InvalidValue, OutOfMemory, NoDevice, InvalidDevice, InvalidPTX,
		UnsupportedPTX, NotFound, NotReady, LaunchOutOfShared} {
		if (&Error{Code: code}).Sticky() {
			t.Errorf("error %d is sticky, want it not to be", code)
		}
	}
}

// TestInfoJSON pins the JSON names of Info in receipts and in the output of `collocate gpu --json`.
func TestInfoJSON(t *testing.T) {
	got, err := json.Marshal(Info{Name: "x", Driver: "y", Major: 9, Memory: 1 << 40})
	want := `{"ordinal":0,"name":"x","driver":"y","major":9,"minor":0,"memory":1099511627776,"multiprocessors":0,"l2":0,` +
		`"shared_per_block":0,"shared_opt_in":0,"threads_per_sm":0,"memory_clock_khz":0,"memory_bus_bits":0,"clock_khz":0,"async_engines":0}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v;\nwant %s", got, err, want)
	}
}
