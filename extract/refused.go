package extract

import "net/url"

// refused are kinds of files that people have and that are not read, by their extensions. They are
// named, unlike files of unknown kinds.
var refused = map[string]string{
	"doc": "Word's format before 2007", "xls": "Excel's format before 2007", "ppt": "PowerPoint's format before 2007",
	"xlsx": "Excel's tables: save them as CSV", "rtf": "rich text", "msg": "Outlook's messages: save them as .eml",
	"pst": "Outlook's mail boxes: export them as mbox", "mobi": "Kindle's books", "azw3": "Kindle's books",
	"djvu": "DjVu's scans", "pages": "Apple's Pages", "numbers": "Apple's Numbers", "key": "Apple's Keynote",
	"chm": "Windows' help", "ps": "PostScript: make it PDF", "xps": "XPS: make it PDF", "one": "OneNote",
}

// unescaped returns a reference without its escapes and fragment.
func unescaped(ref string) string {
	u, err := url.Parse(ref)
	if err != nil {
		return ref
	}
	return u.Path
}
