package points

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// timeLayouts are the notations of a time that are accepted; each has only one meaning.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04",
	"2006-01-02 15:04", "2006-01-02", "2006/01/02 15:04:05", "2006/01/02", "2006-01", "20060102",
}

// parseTime converts a time to seconds since 1970. Without a time zone it is in UTC. A negative
// number, or one of more than eight digits, is seconds or, above 1e11 (the year 5138),
// milliseconds.
func parseTime(text []byte) (at int64, milli bool, err error) {
	if len(text) == 0 {
		return 0, false, errors.New("the time is missing")
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, string(text)); err == nil {
			return t.Unix(), false, nil
		}
	}
	if v, err := strconv.ParseFloat(string(text), 64); err == nil && (v > 99_999_999 || v < 0) &&
		v > -1e15 && v < 1e15 {
		if v > 1e11 {
			return int64(v / 1000), true, nil
		}
		return int64(v), false, nil
	}
	return 0, false, fmt.Errorf("time %q: want a form such as 2024-05-31, 2024-05-31 18:30:00, RFC 3339, or seconds since 1970", text)
}
