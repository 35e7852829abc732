package datagen

import "math/bits"

// The word of rank r (from 0) is computed from r. Consonants and vowels alternate, so words can be
// pronounced. No two ranks have the same word. Frequent words are short.
//
// Ranks are divided into bands: 0-15, 16-31, 32-63, 64-127 and so on. A band has a list of 16 word
// lengths, which its ranks use in turn. The k-th word of a length is a number written in syllables:
// k, scattered by a multiplication modulo the number of words of that length, so that neighbours
// do not look alike.

const (
	consonants = "bcdfghjklmnprstvwz"
	vowels     = "aeiou"
	syllables  = len(consonants) * len(vowels)
	maxLength  = 12
	bandCount  = rankBits - 4 + 1
)

// Lengths of words, in hundredths of a letter. In band b they are normally distributed around
// meanLength + b*longer. Measured with Web: the mean length of running words is 4.59 letters (in
// the paper 4.59, from the bytes and words of its sets). That of distinct words is 7.1 for the
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

type band struct {
	length [16]uint8             // of the words whose rank is i modulo 16
	index  [16]uint8             // number of entries before i with the same length
	count  [maxLength + 1]uint64 // number of entries with that length
	used   [maxLength + 1]uint64 // number of words of that length in earlier bands
}

type lengthClass struct {
	words   uint64 // number of words of this length
	initial uint64 // number of those that start with a consonant
	scatter uint64 // a factor that is coprime to words
}

var bands, classes = makeBands()

func makeBands() (*[bandCount]band, *[maxLength + 1]lengthClass) {
	classes := new([maxLength + 1]lengthClass)
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
	bands := new([bandCount]band)
	var used [maxLength + 1]uint64
	for b := range bands {
		blocks := uint64(1) << max(0, b-1) // of 16 ranks each
		bd := &bands[b]
		bd.used = used
		for i := range 16 {
			n := firstLengths[i]
			if b > 0 {
				// 7 is odd, so each quantile occurs once; long and short words alternate.
				n = (meanLength + longer*b + spreadLength*quantiles[(7*i+3)%16]/100 + 50) / 100
			}
			n = min(max(n, 1), maxLength)
			for used[n]+blocks > classes[n].words { // no word of that length left
				n++
			}
			used[n] += blocks
			bd.length[i], bd.index[i] = uint8(n), uint8(bd.count[n])
			bd.count[n]++
		}
	}
	return bands, classes
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Word returns the word with the given rank in [0, 2^34); the most frequent has rank 0.
func Word(rank int64) string {
	return string(appendWord(nil, rank))
}

func appendWord(dst []byte, rank int64) []byte {
	b := bits.Len64(uint64(rank) >> 4)
	place := uint64(rank) &^ (8 << b) // rank minus the first rank of its band
	if b == 0 {
		place = uint64(rank)
	}
	bd := &bands[b]
	i := place & 15
	n := bd.length[i]
	k := bd.used[n] + place>>4*bd.count[n] + uint64(bd.index[i])
	return appendNumber(dst, int(n), (k+classes[n].words*5/7)*classes[n].scatter%classes[n].words)
}

// appendNumber appends the k-th word of n letters.
func appendNumber(dst []byte, n int, k uint64) []byte {
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
