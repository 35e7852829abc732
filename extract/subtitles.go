package extract

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	times   = regexp.MustCompile(`^(\d+:)?\d+:\d+[.,]\d+ *--> *(\d+:)?\d+:\d+[.,]\d+`)
	cueTags = regexp.MustCompile(`<[^<>]*>|\{\\[^{}]*\}`)
)

// subtitles has what is said in SubRip and WebVTT files, a line for each that is shown.
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
	if !seen {
		return nil, fail(Broken, "want lines of times such as 00:00:01,000 --> 00:00:02,500")
	}
	return []Document{{Text: out.Bytes(), Encoding: name}}, nil
}

var htmlEntities = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&nbsp;", " ", "&lrm;", "", "&rlm;", "")
