package extract

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	times   = regexp.MustCompile(`^(\d+:){1,2}\d+[.,:]\d+ *--> *(\d+:){1,2}\d+[.,:]\d+`) // the colon is an error that people make
	cueTags = regexp.MustCompile(`<[^<>]*>|\{\\[^{}]*\}`)
)

// subtitles has what is said in SubRip and WebVTT files, a line for each that is shown. A file
// without times is text like any other.
func subtitles(in *input) ([]Document, error) {
	data, name := in.toUTF8(in.data, "")
	var out bytes.Buffer
	said, seen := false, false // in the text of a cue; a cue was seen
	for _, line := range lines(data, 0) {
		s := strings.TrimSpace(line)
		switch {
		case times.MatchString(s):
			said, seen = true, true
		case s == "":
			said = false
		case said:
			if s = strings.TrimSpace(cueTags.ReplaceAllString(s, "")); s != "" {
				out.WriteString(htmlEntities.Replace(s))
				out.WriteByte('\n')
			}
		}
	}
	if !seen && !bytes.HasPrefix(data, []byte("WEBVTT")) { // another file of that extension
		return []Document{{Kind: "text", Text: data, Encoding: name}}, nil
	}
	return []Document{{Text: out.Bytes(), Encoding: name}}, nil
}

var htmlEntities = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&nbsp;", " ", "&lrm;", "", "&rlm;", "")
