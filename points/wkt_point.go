package points

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parseWKTPoint parses a point such as POINT (1 2), also with Z, M or both. An EPSG number may come
// first, as PostGIS writes it: SRID=4326;POINT(1 2).
func parseWKTPoint(text string) (srid int, x, y float64, err error) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(strings.ToUpper(text), "SRID="); ok {
		number, point, ok := strings.Cut(rest, ";")
		srid, err = strconv.Atoi(number)
		if err != nil || !ok {
			return 0, 0, 0, fmt.Errorf("%q: want a form such as SRID=4326;POINT(1 2)", text)
		}
		text = strings.TrimSpace(point)
	}
	kind, rest, ok := strings.Cut(text, "(")
	words := strings.Fields(strings.ToUpper(kind))
	switch {
	case len(words) == 2 && words[0] == "POINT" && words[1] == "EMPTY", text == "":
		return 0, 0, 0, errors.New("no geometry")
	case !ok || len(words) == 0 || !strings.HasPrefix(words[0], "POINT"):
		return 0, 0, 0, fmt.Errorf("%.40q is not a point in well-known text: want a form such as POINT (1 2)", text)
	}
	numbers := strings.Fields(strings.TrimSuffix(rest, ")"))
	if len(numbers) < 2 || len(numbers) > 4 || !strings.HasSuffix(rest, ")") {
		return 0, 0, 0, fmt.Errorf("%.40q: want two numbers in parentheses", text)
	}
	x, errX := strconv.ParseFloat(numbers[0], 64)
	y, errY := strconv.ParseFloat(numbers[1], 64)
	if errX != nil || errY != nil {
		return 0, 0, 0, fmt.Errorf("%.40q: want two numbers in parentheses", text)
	}
	return srid, x, y, nil
}
