package text

import (
	"strings"
	"unicode"
)

// luceneEnglish is the name of the analyzer that matches Lucene's EnglishAnalyzer, to reproduce
// published results: words of UAX #29, possessives removed, lower case, 33 stop words dropped,
// Porter's stemmer as in Lucene. Words are not normalised.
const luceneEnglish = "lucene-english"

const luceneStops = "a,an,and,are,as,at,be,but,by,for,if,in,into,is,it,no,not,of,on,or,such,that,the," +
	"their,then,there,these,they,this,to,was,will,with"

func newLuceneEnglish() *language {
	return &language{
		name: luceneEnglish, words: segmenter{fold: unicode.ToLower, raw: true}, lucene: true,
		stops: stopSet(strings.Split(luceneStops, ",")),
	}
}

// reduceAsLucene is reduce for Lucene's analyzer.
func (l *language) reduceAsLucene(word string) string {
	for _, end := range []string{"'s", "’s", "＇s"} {
		if stem, ok := strings.CutSuffix(word, end); ok {
			word = stem
			break
		}
	}
	if word == "" || l.stops[word] {
		return ""
	}
	return porterStem(word)
}

// porterStem is Porter's algorithm (An algorithm for suffix stripping, 1980) with the departures of
// his own Java version, which Lucene took over. They are: bli becomes ble, logi becomes log, and
// words of one or two letters stay.
func porterStem(word string) string {
	s := stemming{b: []rune(word)}
	if s.k = len(s.b) - 1; s.k < 2 {
		return word
	}
	s.plurals()
	if s.ends("y") && s.vowelInStem() {
		s.b[s.k] = 'i'
	}
	s.doubleSuffixes()
	s.fullNess()
	s.antEnce()
	s.finalE()
	return string(s.b[:s.k+1])
}

// stemming is a word b[0..k]; the ending after b[j] is examined.
type stemming struct {
	b    []rune
	k, j int
}

func (s *stemming) consonant(i int) bool {
	switch s.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !s.consonant(i-1)
	}
	return true
}

// measure counts the sequences of vowels and consonants in b[0..j]: the m of [C](VC)^m[V].
func (s *stemming) measure() int {
	n, i := 0, 0
	for ; ; i++ {
		if i > s.j {
			return n
		}
		if !s.consonant(i) {
			break
		}
	}
	for {
		for ; ; i++ {
			if i > s.j {
				return n
			}
			if s.consonant(i) {
				break
			}
		}
		for n++; ; i++ {
			if i > s.j {
				return n
			}
			if !s.consonant(i) {
				break
			}
		}
	}
}

func (s *stemming) vowelInStem() bool {
	for i := range s.j + 1 {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

func (s *stemming) doubleConsonant(i int) bool {
	return i >= 1 && s.b[i] == s.b[i-1] && s.consonant(i)
}

// shortEnd reports whether b[i-2..i] is consonant, vowel, consonant, the last not w, x or y.
func (s *stemming) shortEnd(i int) bool {
	if i < 2 || !s.consonant(i) || s.consonant(i-1) || !s.consonant(i-2) {
		return false
	}
	return s.b[i] != 'w' && s.b[i] != 'x' && s.b[i] != 'y'
}

func (s *stemming) ends(end string) bool {
	at := s.k - len(end) + 1
	if at < 0 {
		return false
	}
	for i, r := range end {
		if s.b[at+i] != r {
			return false
		}
	}
	s.j = s.k - len(end)
	return true
}

// set replaces the ending.
func (s *stemming) set(end string) {
	s.b = append(s.b[:s.j+1], []rune(end)...)
	s.k = s.j + len(end)
}

// plurals removes plurals, -ed and -ing.
func (s *stemming) plurals() {
	if s.b[s.k] == 's' {
		switch {
		case s.ends("sses"):
			s.k -= 2
		case s.ends("ies"):
			s.set("i")
		case s.b[s.k-1] != 's':
			s.k--
		}
	}
	if s.ends("eed") {
		if s.measure() > 0 {
			s.k--
		}
		return
	}
	if !s.ends("ed") && !s.ends("ing") || !s.vowelInStem() {
		return
	}
	s.k = s.j
	switch {
	case s.ends("at"):
		s.set("ate")
	case s.ends("bl"):
		s.set("ble")
	case s.ends("iz"):
		s.set("ize")
	case s.doubleConsonant(s.k):
		if c := s.b[s.k]; c != 'l' && c != 's' && c != 'z' {
			s.k--
		}
	case s.measure() == 1 && s.shortEnd(s.k):
		s.set("e")
	}
}

// replace replaces the first of several endings that the word has, if its stem is long enough.
func (s *stemming) replace(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if s.ends(pairs[i]) {
			if s.measure() > 0 {
				s.set(pairs[i+1])
			}
			return
		}
	}
}

// doubleSuffixes maps double suffixes to single ones.
func (s *stemming) doubleSuffixes() {
	if s.k == 0 {
		return
	}
	switch s.b[s.k-1] {
	case 'a':
		s.replace("ational", "ate", "tional", "tion")
	case 'c':
		s.replace("enci", "ence", "anci", "ance")
	case 'e':
		s.replace("izer", "ize")
	case 'l':
		s.replace("bli", "ble", "alli", "al", "entli", "ent", "eli", "e", "ousli", "ous")
	case 'o':
		s.replace("ization", "ize", "ation", "ate", "ator", "ate")
	case 's':
		s.replace("alism", "al", "iveness", "ive", "fulness", "ful", "ousness", "ous")
	case 't':
		s.replace("aliti", "al", "iviti", "ive", "biliti", "ble")
	case 'g':
		s.replace("logi", "log")
	}
}

// fullNess removes -ic-, -full, -ness and the like.
func (s *stemming) fullNess() {
	switch s.b[s.k] {
	case 'e':
		s.replace("icate", "ic", "ative", "", "alize", "al")
	case 'i':
		s.replace("iciti", "ic")
	case 'l':
		s.replace("ical", "ic", "ful", "")
	case 's':
		s.replace("ness", "")
	}
}

// antEnce removes -ant, -ence and the like where the stem is [C](VC)^m with m > 1.
func (s *stemming) antEnce() {
	if s.k == 0 {
		return
	}
	var ends []string
	switch s.b[s.k-1] {
	case 'a':
		ends = []string{"al"}
	case 'c':
		ends = []string{"ance", "ence"}
	case 'e':
		ends = []string{"er"}
	case 'i':
		ends = []string{"ic"}
	case 'l':
		ends = []string{"able", "ible"}
	case 'n':
		ends = []string{"ant", "ement", "ment", "ent"}
	case 'o':
		if s.ends("ion") && s.j >= 0 && (s.b[s.j] == 's' || s.b[s.j] == 't') {
			ends = []string{"ion"}
		} else {
			ends = []string{"ou"}
		}
	case 's':
		ends = []string{"ism"}
	case 't':
		ends = []string{"ate", "iti"}
	case 'u':
		ends = []string{"ous"}
	case 'v':
		ends = []string{"ive"}
	case 'z':
		ends = []string{"ize"}
	}
	for _, end := range ends {
		if s.ends(end) {
			if s.measure() > 1 {
				s.k = s.j
			}
			return
		}
	}
}

// finalE removes a final e, and makes -ll -l, where m > 1.
func (s *stemming) finalE() {
	s.j = s.k
	if s.b[s.k] == 'e' {
		if m := s.measure(); m > 1 || m == 1 && !s.shortEnd(s.k-1) {
			s.k--
		}
	}
	if s.b[s.k] == 'l' && s.doubleConsonant(s.k) && s.measure() > 1 {
		s.k--
	}
}
