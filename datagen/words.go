package datagen

import "math/bits"

// The word of rank r (from 0) is computed from r. Consonants and vowels alternate, so words can be
// pronounced. No two ranks have the same word. Frequent words are short.
//
// Ranks are divided into bands: 0-15, 16-31, 32-63, 64-127 and so on. A band has a list of 16 word
// lengths, which its ranks use in turn. The k-th word of a length is a number written in syllables:
// k, scattered by a multiplication modulo the number of words of that length, so that neighbours
// do not look alike.
//
// There are two such lists. Those of Word vary little in length. Those of LongWord vary as the
// words of the term weighting paper do, which matters to its dictionaries: threads that look up
// words of different lengths diverge.

const (
	consonants = "bcdfghjklmnprstvwz"
	vowels     = "aeiou"
	syllables  = len(consonants) * len(vowels)
	maxLength  = 12 // of Word
	maxLong    = 24 // of LongWord
	bandCount  = rankBits - 4 + 1
)

// Lengths of the words of Word, in hundredths of a letter. In band b they are normally distributed
// around meanLength + b*longer. Measured with Web: the mean length of running words is 4.59 letters
// (in the paper 4.59, from the bytes and words of its sets). That of distinct words is 7.1 for the
// first 131 thousand, 8.1 for the first million and 9.3 for ten million (in the paper 6.7 to 9.4).
const (
	meanLength   = 306
	longer       = 34
	spreadLength = 130
)

// quantiles are those of the normal distribution at the centres of 16 equal parts, in hundredths.
var quantiles = [16]int{-186, -132, -101, -78, -58, -40, -24, -8, 8, 24, 40, 58, 78, 101, 132, 186}

// firstLengths are the lengths of the 16 most frequent words of English: the of and to a in ...
var firstLengths = [16]int{3, 2, 3, 2, 1, 2, 2, 3, 4, 2, 4, 2, 2, 2, 2, 3}

// Lengths of the words of LongWord, in hundredths of a letter: mean and standard deviation in some
// bands, between which they are interpolated. They are fitted to the paper's Table 3, with
// vocabularies of 10 thousand to 10 million words, whose sizes it does not give. TestLongWords has
// the means and variances: they differ by up to 1%, the mean of the first 10 thousand by 4%.
var longLengths = []struct{ band, mean, deviation int }{
	{1, 388, 192}, {4, 457, 221}, {7, 591, 251}, {10, 706, 250}, {13, 722, 268}, {16, 799, 298},
	{20, 961, 538},
}

// skewed are the quantiles of the exponential distribution at the centres of 16 equal parts, with
// mean 0 and variance 1, in hundredths. Of the gamma distributions it fits best.
var skewed = [16]int{-104, -97, -89, -80, -71, -61, -50, -38, -24, -9, 10, 32, 59, 96, 153, 273}

// lexicon has the words of all ranks.
type lexicon [bandCount]band

type band struct {
	length [16]uint8           // of the words whose rank is i modulo 16
	index  [16]uint8           // number of entries before i with the same length
	count  [maxLong + 1]uint64 // number of entries with that length
	used   [maxLong + 1]uint64 // number of words of that length in earlier bands
}

type lengthClass struct {
	words   uint64 // number of words of this length
	initial uint64 // number of those that start with a consonant
	scatter uint64 // a factor that is coprime to words
}

var (
	classes    = makeClasses()
	shortWords = makeLexicon(shortLength)
	longWords  = makeLexicon(longLength)
)

func makeClasses() *[maxLong + 1]lengthClass {
	classes := new([maxLong + 1]lengthClass)
	power := uint64(1) // syllables^(length/2)
	for n := 1; n <= maxLength; n++ {
		c := &classes[n]
		if n%2 == 0 {
			power *= uint64(syllables)
			c.initial, c.words = power, 2*power
		} else {
			if n > 1 {
				c.initial = power * uint64(len(consonants))
			}
			c.words = c.initial + power*uint64(len(vowels))
		}
		// Near the golden ratio, but small enough for 64-bit products.
		c.scatter = min(c.words*618/1000, 1<<26) | 1
		for gcd(c.scatter, c.words) != 1 {
			c.scatter += 2
		}
	}
	// Longer words are those of maxLength letters with their beginning once more.
	for n := maxLength + 1; n <= maxLong; n++ {
		classes[n] = classes[maxLength]
	}
	return classes
}

// shortLength returns the length of the i-th words of Word in a band.
func shortLength(b, i int) int {
	n := (meanLength + longer*b + spreadLength*quantiles[i]/100 + 50) / 100
	return min(max(n, 1), maxLength)
}

// longLength returns the length of the i-th words of LongWord in a band.
func longLength(b, i int) int {
	last := longLengths[len(longLengths)-1]
	mean, deviation := last.mean, last.deviation
	for k := 1; k < len(longLengths); k++ {
		if from, to := longLengths[k-1], longLengths[k]; b <= to.band {
			width := to.band - from.band
			mean = (from.mean*(to.band-b) + to.mean*(b-from.band)) / width
			deviation = (from.deviation*(to.band-b) + to.deviation*(b-from.band)) / width
			break
		}
	}
	return min(max((100*mean+deviation*skewed[i]+5000)/10000, 1), maxLong)
}

// makeLexicon assigns words to all ranks. length returns the length that belongs to a quantile in a
// band; it is enlarged if there are no words of that length left.
func makeLexicon(length func(band, quantile int) int) *lexicon {
	bands := new(lexicon)
	var used [maxLong + 1]uint64
	for b := range bands {
		blocks := uint64(1) << max(0, b-1) // of 16 ranks each
		bd := &bands[b]
		bd.used = used
		for i := range 16 {
			n := firstLengths[i]
			if b > 0 {
				// 7 is odd, so each quantile occurs once; long and short words alternate.
				n = length(b, (7*i+3)%16)
			}
			for used[n]+blocks > classes[n].words { // no word of that length left
				n++
			}
			used[n] += blocks
			bd.length[i], bd.index[i] = uint8(n), uint8(bd.count[n])
			bd.count[n]++
		}
	}
	return bands
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Word returns the word with the given rank in [0, 2^34); the most frequent has rank 0.
func Word(rank int64) string {
	return string(shortWords.appendWord(nil, rank))
}

// LongWord is like Word, but lengths vary as in the term weighting paper. Words have up to 24
// letters.
func LongWord(rank int64) string {
	return string(longWords.appendWord(nil, rank))
}

func (l *lexicon) appendWord(dst []byte, rank int64) []byte {
	b := bits.Len64(uint64(rank) >> 4)
	place := uint64(rank) &^ (8 << b) // rank minus the first rank of its band
	if b == 0 {
		place = uint64(rank)
	}
	bd := &l[b]
	i := place & 15
	n := bd.length[i]
	k := bd.used[n] + place>>4*bd.count[n] + uint64(bd.index[i])
	return appendNumber(dst, int(n), (k+classes[n].words*5/7)*classes[n].scatter%classes[n].words)
}

// appendNumber appends the k-th word of n letters.
func appendNumber(dst []byte, n int, k uint64) []byte {
	from := len(dst)
	dst = appendSyllables(dst, min(n, maxLength), k)
	return append(dst, dst[from:from+max(0, n-maxLength)]...)
}

func appendSyllables(dst []byte, n int, k uint64) []byte {
	const c, v, s = uint64(len(consonants)), uint64(len(vowels)), uint64(syllables)
	class := &classes[n]
	odd, last := n%2 == 1, byte(0) // the last letter, if the pairs leave one
	if k < class.initial {         // consonant, vowel, consonant, ...
		if odd {
			last, k = consonants[k%c], k/c
		}
		for ; n > 1; n -= 2 {
			dst = append(dst, consonants[k%c], vowels[k%s/c])
			k /= s
		}
	} else { // vowel, consonant, vowel, ...
		k -= class.initial
		if odd {
			last, k = vowels[k%v], k/v
		}
		for ; n > 1; n -= 2 {
			dst = append(dst, vowels[k%v], consonants[k%s/v])
			k /= s
		}
	}
	if odd {
		dst = append(dst, last)
	}
	return dst
}
