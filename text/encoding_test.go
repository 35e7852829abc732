package text

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// Every encoding is read and written by one name and has a decoder. Names of encodings that are
// converted are the canonical ones of the WHATWG Encoding Standard.
func TestEncodingNames(t *testing.T) {
	for i, name := range Encodings() {
		var e Encoding
		if err := json.Unmarshal([]byte(`"`+name+`"`), &e); err != nil || e != Encoding(i) || e.String() != name {
			t.Errorf("%s: encoding %d named %s, %v; want %d", name, e, e, err, i)
		}
		if _, err := e.Reader(strings.NewReader("")); err != nil {
			t.Error(err)
		}
		if e > byMark {
			if coding, err := htmlindex.Get(name); err != nil {
				t.Error(err)
			} else if canonical, err := htmlindex.Name(coding); canonical != name {
				t.Errorf("%s: its canonical name is %s, %v", name, canonical, err)
			}
		}
	}
	// Aliases are read too; an unknown name changes nothing.
	var e Encoding
	for _, name := range []string{"latin1", "ascii", "ISO-8859-1", "Windows-1252", "cp1252"} {
		if err := e.UnmarshalText([]byte(name)); err != nil || e.String() != "windows-1252" {
			t.Errorf("%s: %v, %v; want windows-1252", name, e, err)
		}
	}
	if err := e.UnmarshalText([]byte("klingon")); err == nil || e.String() != "windows-1252" {
		t.Errorf("klingon: %v, %v; want an error and the encoding of before", e, err)
	}
}

// The list has every encoding of the WHATWG Encoding Standard.
func TestNoEncodingIsMissing(t *testing.T) {
	for _, alias := range []string{"utf8", "cp866", "latin2", "latin3", "latin4", "cyrillic", "arabic", "greek",
		"hebrew", "logical", "latin6", "iso8859-13", "iso8859-14", "l9", "iso-8859-16", "koi8", "koi8-ru",
		"mac", "tis-620", "cp1250", "cp1251", "latin1", "cp1253", "latin5", "cp1255", "cp1256", "cp1257",
		"cp1258", "x-mac-ukrainian", "gb2312", "gb18030", "big5-hkscs", "x-euc-jp", "csiso2022jp", "sjis",
		"korean", "hz-gb-2312", "utf-16be", "utf-16le", "x-user-defined"} {
		if e, err := ParseEncoding(alias); err != nil || !slices.Contains(Encodings(), e.String()) {
			t.Errorf("%s: %v, %v; want one of the list", alias, e, err)
		}
	}
}
