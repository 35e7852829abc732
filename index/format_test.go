package index

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// The bytes of the worked example in reader.go.
func TestBytesArePinned(t *testing.T) {
	r := rose().write(t)
	u64 := func(n ...int) string {
		var s strings.Builder
		for _, x := range n {
			s.WriteString(hex.EncodeToString([]byte{byte(x), byte(x >> 8), 0, 0, 0, 0, 0, 0}))
		}
		return s.String()
	}
	u32 := func(n ...int) string {
		var s strings.Builder
		for _, x := range n {
			s.WriteString(hex.EncodeToString([]byte{byte(x), 0, 0, 0}))
		}
		return s.String()
	}
	text := func(s string) string { return hex.EncodeToString([]byte(s)) }
	pad := strings.Repeat("00", tailPad)
	want := map[string][]string{
		metaFile: {
			"counts", u64(2, 4, 5, 7, 7, 2578, 128, 32),
			"analyzer", text("ascii"),
			"files", "",
		},
		postingsFile: {"postings", "0001" + "01" + pad},
		skipsFile:    {"skips", ""},
		termsFile: {
			"blob", "10" + "01" + text("a") + "05" + text("daisy") + "02" + text("is") + "04" + text("rose") +
				"0000" + "020103" + "010001" + "010000" + "010100",
			"starts", u64(0, 31),
			"prefixes", "00000000000000" + text("a"),
		},
		docsFile: {
			"classes", "0100",
			"class-lengths", u32(2, 5),
			"ids", "02" + text("d1") + "0001",
			"id-starts", u64(0, 5),
			"id-ranks", "",
			"id-docs", "",
		},
	}
	for name, parts := range want {
		infos := r.files[name].Sections()
		if len(infos) != len(parts)/2 {
			t.Errorf("%s: %d sections, want %d", name, len(infos), len(parts)/2)
			continue
		}
		for i, info := range infos {
			data, err := r.files[name].Section(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Name != parts[2*i] {
				t.Errorf("%s: section %d is %s, want %s", name, i, info.Name, parts[2*i])
			}
			if got := hex.EncodeToString(data); got != parts[2*i+1] && info.Name != "files" {
				t.Errorf("%s, section %s:\n got %s\nwant %s", name, info.Name, got, parts[2*i+1])
			}
		}
	}
	// The stamp of a file: name, length, checksum.
	data, err := r.files[metaFile].Section("files")
	if err != nil {
		t.Fatal(err)
	}
	const files = "7465726d730000000000000000000000" + "0002000000000000" + "38b35ad5" + "00000000"
	if got := hex.EncodeToString(data[:32]); got != files {
		t.Errorf("stamp of the dictionary:\n got %s\nwant %s", got, files)
	}
	if len(data) != 4*32 {
		t.Errorf("%d bytes of stamps, want 32 for each of 4 files", len(data))
	}
}

// The bytes of a list with a full block, a patch and a tail. Its skip data are the last documents,
// the offsets, the bounds, and the x of the best postings.
func TestSkipsOfALongList(t *testing.T) {
	p := &plainIndex{words: []string{"w"}, docs: make([][]uint32, 1), tfs: make([][]uint32, 1)}
	for d := range 600 {
		p.lengths = append(p.lengths, uint32(10+(d+d/3)%3))
		p.ids = append(p.ids, "")
		if d%3 == 0 {
			p.docs[0] = append(p.docs[0], uint32(d))
			p.tfs[0] = append(p.tfs[0], 1)
		}
	}
	p.tfs[0][100] = 300
	r := p.write(t)
	got := hex.EncodeToString(r.skips)
	const want = "7d010000" + "55020000" + // last documents 381 and 597
		"00000000" + "36000000" + // blocks at 0 and 54
		"a301" + "0000" + "0000" + "0000" + // frequency code 163 (up to 335), class 1; then (1, class 0)
		"0000" + "0000" + "0000" + "0000" +
		"a301" + "0000" + "0000" + "0000" +
		"a301" + "0000" + "0000" + "0000" +
		"6f12833b" + "94208f3f" + "6f12833b" + "6f12833b" + // x: 0.004 (1.2/300), 1.118; of both, of the list
		"94208f3f" + "9a99993f" + "0000807f" + "00000000" // of the 10th and the 100th; there is no 1,000th
	if got != want {
		t.Errorf("skips\n got %s\nwant %s", got, want)
	}
	// First block: a bitmap of 6 words with every third document; frequencies less 1
	// are 0 but one patch of 299 = uvarint ab 02 at position 100.
	if head := hex.EncodeToString(r.postings[:3]); head != "ff2006" {
		t.Errorf("first block: header %s, want ff2006", head)
	}
	if words := hex.EncodeToString(r.postings[3:51]); words != strings.Repeat("499224", 16) {
		t.Errorf("first block: bitmap %s, want 499224 sixteen times", words)
	}
	if patch := hex.EncodeToString(r.postings[51:54]); patch != "64ab02" {
		t.Errorf("first block: patch %s, want 64ab02", patch)
	}
	// Second block: 72 gaps less 1 of 2, 2 bits each.
	if tail := hex.EncodeToString(r.postings[54:74]); tail != "0200"+strings.Repeat("aa", 18) {
		t.Errorf("second block: %s, want 0200 and eighteen aa", tail)
	}
}

// The checksums of files with lists of all kinds: a faster encoder must not change a byte.
func TestBytesOfManyListsArePinned(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 82)) // only whole numbers are drawn: the same on every machine
	p := &plainIndex{}
	for d := range 30_000 {
		p.lengths = append(p.lengths, rng.Uint32N(1<<rng.Uint32N(14)))
		p.ids = append(p.ids, strconv.Itoa(d))
	}
	p.lengths[17] = 1 << 25 // does not fit beside the class in 32 bits
	for i := range 120 {
		p.words = append(p.words, fmt.Sprintf("w%03d", i))
		every := rng.IntN(1<<rng.IntN(14)) + 1
		var docs, tfs []uint32
		for d := range p.lengths {
			if rng.IntN(every) == 0 || d == 0 {
				docs, tfs = append(docs, uint32(d)), append(tfs, rng.Uint32N(1<<rng.Uint32N(4))+1)
				if rng.IntN(50) == 0 {
					tfs[len(tfs)-1] = rng.Uint32N(1<<rng.Uint32N(32)) + 1
				}
			}
		}
		p.docs, p.tfs = append(p.docs, docs), append(p.tfs, tfs)
	}
	r := p.write(t)
	data, err := r.files[metaFile].Section("files")
	if err != nil {
		t.Fatal(err)
	}
	stamps, err := parseStamps(data)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint32{termsFile: 0x277fb892, postingsFile: 0x590fa3c5,
		skipsFile: 0x252fc1a4, docsFile: 0x6d8fc93e, levelsFile: 0xde39b246}
	for _, s := range stamps {
		if want[s.name] != s.crc {
			t.Errorf("file %s of %d bytes: checksum %#x, want %#x", s.name, s.size, s.crc, want[s.name])
		}
		delete(want, s.name)
	}
	if len(want) > 0 {
		t.Errorf("files with checksums %#x are missing", want)
	}
}
