package textfile

import "bytes"

// notText lists kinds of files that are easily mistaken for a corpus: magic bytes, their position,
// and what to say. Words made of such bytes would be noise that nobody notices.
var notText = []struct {
	at          int
	magic, what string
}{
	{0, "\xff\xfe", "UTF-16 text: convert it to UTF-8, or read a corpus with text.Options.Encoding=utf-16"},
	{0, "\xfe\xff", "UTF-16 text: convert it to UTF-8, or read a corpus with text.Options.Encoding=utf-16"},
	{0, "%PDF-", "a PDF document: convert it to text"},
	{0, "PK\x03\x04", "a ZIP archive, which office documents are, too: unpack or convert it"},
	{0, "PAR1\x15", "a Parquet table: export it as CSV or JSON lines"},
	{0, "\xfd7zXZ\x00", "text packed with xz: want it plain, or packed with gzip, zstd or bzip2"},
	{257, "ustar", "a tar archive: unpack it and name the folder"},
}

// WhyNotText says what kind of file begins like this, or returns "" if it may be text.
func WhyNotText(head []byte) string {
	for _, n := range notText {
		if len(head) >= n.at && bytes.HasPrefix(head[n.at:], []byte(n.magic)) {
			return n.what
		}
	}
	// A CIFF file begins with the length of its header, the version, 1, and the number of words.
	for at := 1; at <= 2; at++ {
		if len(head) > at+3 && head[at] == 0x08 && head[at+1] == 1 && head[at+2] == 0x10 {
			return "an index in the CIFF format, not text: import it (index.Import)"
		}
	}
	// Collocate's own files (internal/sections) begin with a magic, then a version below 256 in 8
	// bytes.
	if len(head) >= 16 && string(head[:4]) == "COLO" && head[7] == '\n' &&
		string(head[9:16]) == string(make([]byte, 7)) {
		return "a file that Collocate made, not a corpus: name the text that it was made from"
	}
	nul := bytes.Count(head, []byte{0})
	if many := nul > 1 && nul*4 >= len(head); many && (nulsFrom(head, 0) == 0 || nulsFrom(head, 1) == 0) {
		return "UTF-16 text without its mark, or binary data: it holds NUL bytes; convert it to UTF-8, " +
			"or read a corpus with text.Options.Encoding=utf-16le or utf-16be"
	} else if many {
		return "binary data, not text: it holds NUL bytes"
	}
	if len(head) >= minBinary && nul > 1 && nul*1000 > len(head) {
		return "binary data, not text: it holds NUL bytes"
	}
	return ""
}

// minBinary is the least length of a file that is judged by its NUL bytes. Programs, images, sound
// and databases have many, random data one in 256. A single one in a text is a byte like any other.
const minBinary = 512

// nulsFrom counts the NUL bytes at every second position from first on.
func nulsFrom(head []byte, first int) (n int) {
	for i := first; i < len(head); i += 2 {
		if head[i] == 0 {
			n++
		}
	}
	return n
}
