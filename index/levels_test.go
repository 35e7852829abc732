package index

import (
	"context"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// The lists of tests are short, so those of 200 postings get levels.
func init() { levelsFrom = 200 }

// A place of level 0 has no posting. At the others no posting is better than the x of the level,
// and that x is the best of all its places.
func TestLevelsBoundEveryPosting(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	maps := 0
	for range trials.Of(40) {
		p := randomIndex(rng, 9000, 12)
		r := p.write(t)
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		for i, word := range p.words {
			term, err := r.Lookup([]byte(word))
			if err != nil {
				t.Fatal(err)
			}
			var c Cursor
			if err := r.Open(term, &c); err != nil {
				t.Fatal(err)
			}
			if want := len(p.docs[i]) >= 200 &&
				len(p.docs[i])*levelsShare >= len(p.lengths); want != (c.Levels != nil) {
				t.Fatalf("%d of %d documents: has levels %v, want %v", len(p.docs[i]), len(p.lengths), !want, want)
			} else if !want {
				continue
			}
			maps++
			best := make([]float32, (len(p.lengths)+LevelDocs-1)/LevelDocs)
			for at := range best {
				best[at] = noPosting
			}
			for j, d := range p.docs[i] {
				best[d/LevelDocs] = min(best[d/LevelDocs], xOf(r.StoredModel(), p.tfs[i][j], p.lengths[d]))
			}
			lowest := [NumLevels]float32{}
			for l := range lowest {
				lowest[l] = noPosting
			}
			for at, x := range best {
				two := c.Levels[at/128*StretchBytes+at%64]
				level := two >> (at / 64 % 2 * 4) & 15
				if (level == 0) != math.IsInf(float64(x), 1) || c.LevelX[level] > x {
					t.Fatalf("place %d: level %d with x %v, but the best posting has x %v", at, level,
						c.LevelX[level], x)
				}
				lowest[level] = min(lowest[level], x)
			}
			if lowest != *c.LevelX {
				t.Fatalf("x of the levels %v, want %v", *c.LevelX, lowest)
			}
		}
	}
	if maps < trials.Of(40) {
		t.Errorf("only %d maps of levels, want at least %d", maps, trials.Of(40))
	}
}

// The bytes of a map of levels: a word in 302 documents of one length, in three of them more than
// once.
func TestBytesOfLevelsArePinned(t *testing.T) {
	p := &plainIndex{words: []string{"w"}, docs: make([][]uint32, 1), tfs: make([][]uint32, 1)}
	for d := range 3000 {
		p.lengths = append(p.lengths, 10)
		p.ids = append(p.ids, "")
		if d < 300 {
			p.docs[0] = append(p.docs[0], uint32(d))
			p.tfs[0] = append(p.tfs[0], 1)
		}
	}
	p.docs[0] = append(p.docs[0], 1030, 2999)
	p.tfs[0] = append(p.tfs[0], 4, 2)
	p.tfs[0][20] = 3
	r := p.write(t)
	// x is 1.2/tf. It is 0.3 at place 64 (the best, so level 15), 0.4 at place 1, 0.6 at place 187
	// = 128+59, and 1.2 at the other places up to 18. The best is 4.8% of the 21 places with
	// postings, so the next best has level 10, and so on.
	inf := "0000807f"
	want := strings.Repeat(inf, 8) + "9a99993f" + "9a99193f" + "cecccc3e" + strings.Repeat(inf, 4) + "9a99993e" +
		"f8" + "0a" + strings.Repeat("08", 17) + strings.Repeat("00", 45) +
		strings.Repeat("00", 59) + "09" + strings.Repeat("00", 4)
	if got := hex.EncodeToString(r.levels.maps); got != want {
		t.Errorf("levels\n got %s\nwant %s", got, want)
	}
	if len(r.levels.words) != 1 || r.levels.words[0] != 0 {
		t.Errorf("words with levels %v, want [0]", r.levels.words)
	}
}

// An index whose lists are all short has no levels file.
func TestShortListsHaveNoLevels(t *testing.T) {
	r := rose().write(t)
	if r.files[levelsFile] != nil || r.meta.flags&flagLevels != 0 {
		t.Errorf("levels file %v, flags %#x; want none", r.files[levelsFile] != nil, r.meta.flags)
	}
}

// hasLevels depends on the share of documents, so that a word with levels in an index has them in
// its shards and segments too, unless those are small.
func TestSegmentsHaveLevelsToo(t *testing.T) {
	defer func(from uint64) { levelsFrom = from }(levelsFrom)
	levelsFrom = 28_000
	for _, c := range []struct {
		df   uint32
		docs uint64
		want bool
	}{
		{28_000, 420_834, true}, {27_999, 420_834, false}, {2_805, 42_083, true}, {2_804, 42_083, false},
		{28_000, 5_000_000, false}, {110_000, 5_000_000, true}, {1_500, 1_500, true}, {1_499, 1_499, false},
	} {
		if got := hasLevels(c.df, c.docs); got != c.want {
			t.Errorf("hasLevels of %d of %d documents = %v, want %v", c.df, c.docs, got, c.want)
		}
	}
}
