package points

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// readXML reads GPX or KML, whichever the first element says.
func readXML(r io.Reader, rows *rowSink) error {
	dec := xml.NewDecoder(r)
	for {
		token, err := dec.Token()
		if err != nil {
			return fmt.Errorf("XML: %w", noEOF(err))
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "gpx":
			return readGPX(dec, rows)
		case start.Name.Local == "kml":
			return readKML(dec, rows)
		default:
			return fmt.Errorf("XML document <%s>: want <gpx> or <kml>", start.Name.Local)
		}
	}
}

// readGPX reads waypoints. The kind of place is the element that --feature names. By default it is
// <type> or <sym>, in this order, or an element with a common name: what the first waypoint has.
func readGPX(dec *xml.Decoder, rows *rowSink) error {
	rows.in.Format = "gpx"
	rows.assume(WGS84, "GPX is in WGS 84")
	if rows.shapes != nil {
		return errors.New("GPX has no polygons")
	}
	n := 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("GPX: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local != "wpt" {
			if err := dec.Skip(); err != nil {
				return fmt.Errorf("GPX: %w", err)
			}
			continue
		}
		n++
		var w struct {
			Lat  string `xml:"lat,attr"`
			Lon  string `xml:"lon,attr"`
			Rest []struct {
				XMLName xml.Name
				Text    string `xml:",chardata"`
			} `xml:",any"`
		}
		if err := dec.DecodeElement(&w, &start); err != nil {
			return fmt.Errorf("GPX: waypoint %d: %w", n, err)
		}
		values := make(map[string]string)
		for _, e := range w.Rest {
			values[e.XMLName.Local] = strings.TrimSpace(e.Text)
		}
		if err := addWaypoint(n, w.Lon, w.Lat, values, rows); err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("GPX: no waypoints (<wpt>); tracks and routes are not supported")
	}
	return nil
}

func addWaypoint(n int, lon, lat string, values map[string]string, rows *rowSink) error {
	where := func() string { return fmt.Sprintf("GPX: waypoint %d", n) }
	column := &rows.in.Columns[2]
	if *column == "" {
		names := make([]string, 0, len(values))
		for name := range values {
			names = append(names, name)
		}
		slices.Sort(names)
		_, typed := values["type"]
		_, symbol := values["sym"]
		switch {
		case rows.fixed != nil:
			*column = "@file"
		case rows.opt.Feature != "" || !typed && !symbol:
			l, err := rows.columns(names, false)
			if err != nil {
				return fmt.Errorf("%s: %w", where(), err)
			}
			*column = names[l.feature]
		case typed:
			*column = "type"
		default:
			*column = "sym"
		}
	}
	rows.when = []byte(values[rows.opt.Time])
	x, err := strconv.ParseFloat(lon, 64)
	if err != nil {
		return rows.bad(noPosition, fmt.Errorf("longitude %q is not a number", lon), where)
	}
	y, err := strconv.ParseFloat(lat, 64)
	if err != nil {
		return rows.bad(noPosition, fmt.Errorf("latitude %q is not a number", lat), where)
	}
	return rows.add(x, y, []byte(values[*column]), where)
}
