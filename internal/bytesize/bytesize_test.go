package bytesize

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "17": 17, "64k": 64000, "2GB": 2e9, "2gb": 2e9, "1.5 MiB": 3 << 19, "4GiB": 4 << 30, "1TB": 1e12,
		"9007199254740993": 1<<53 + 1, ".5k": 500, "2.k": 2000,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1GB", "2 furlongs", "1e3", "1.2.3", "2.5", ".", "99999999TB"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) = %d, want an error", text, got)
		}
	}
}

// Parse reads what String writes, to three digits.
func TestStringIsReadable(t *testing.T) {
	for size, want := range map[Size]string{0: "0B", 999: "999B", 1500: "1.5kB", 2 * GB: "2GB", 123456789: "123MB"} {
		if got := size.String(); got != want {
			t.Errorf("%d prints as %s, want %s", int64(size), got, want)
		}
	}
}
