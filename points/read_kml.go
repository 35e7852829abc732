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

// readKML reads the placemarks of KML that have a Point, with the values of their ExtendedData,
// their name, and the name of their folder as "folder". The kind of place is the value that
// --feature names, or one with a common name, or the folder.
func readKML(dec *xml.Decoder, rows *rowSink) error {
	rows.in.Format = "kml"
	rows.assume(WGS84, "KML is in WGS 84")
	k := &kmlReader{rows: rows, column: "folder"}
	// The name of a folder comes before what is in it. Elements are left as they are entered.
	var open, folders []string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("KML: placemark %d: %w", k.n+1, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			parent := ""
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			switch {
			case name == "Placemark":
				var p kmlPlacemark
				if err := dec.DecodeElement(&p, &t); err != nil {
					return fmt.Errorf("KML: placemark %d: %w", k.n+1, err)
				}
				if err := k.add(&p, folders); err != nil {
					return err
				}
				continue
			case name == "name" && (parent == "Folder" || parent == "Document"):
				var text string
				if err := dec.DecodeElement(&text, &t); err != nil {
					return fmt.Errorf("KML: %w", err)
				}
				if parent == "Folder" {
					folders[len(folders)-1] = strings.TrimSpace(text)
				}
				continue
			case name == "Folder":
				folders = append(folders, "")
			case name != "Document":
				if err := dec.Skip(); err != nil {
					return fmt.Errorf("KML: %w", err)
				}
				continue
			}
			if open = append(open, name); len(open) > 100 {
				return errors.New("KML: more than 100 folders in one another")
			}
		case xml.EndElement:
			if len(open) == 0 {
				continue // of kml
			}
			if open[len(open)-1] == "Folder" {
				folders = folders[:len(folders)-1]
			}
			open = open[:len(open)-1]
		}
	}
	if k.n == 0 {
		return errors.New("KML: no placemarks")
	}
	return nil
}

type kmlPlacemark struct {
	Name string `xml:"name"`
	Data []struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value"`
	} `xml:"ExtendedData>Data"`
	Simple []struct {
		Name string `xml:"name,attr"`
		Text string `xml:",chardata"`
	} `xml:"ExtendedData>SchemaData>SimpleData"`
	When string `xml:"TimeStamp>when"`
	kmlGeometry
}

type kmlGeometry struct {
	Points   []string     `xml:"Point>coordinates"`
	Lines    []string     `xml:"LineString>coordinates"`
	Polygons []kmlPolygon `xml:"Polygon"`
	Multi    *kmlGeometry `xml:"MultiGeometry"`
}

type kmlPolygon struct {
	Outer string   `xml:"outerBoundaryIs>LinearRing>coordinates"`
	Inner []string `xml:"innerBoundaryIs>LinearRing>coordinates"`
}

type kmlReader struct {
	rows   *rowSink
	n      int
	column string // of the feature
}

func (k *kmlReader) add(p *kmlPlacemark, folders []string) error {
	k.n++
	where := func() string { return fmt.Sprintf("KML: placemark %d", k.n) }
	g := &p.kmlGeometry
	for depth := 0; g.Multi != nil && depth < 8 && len(g.Points)+len(g.Polygons)+len(g.Lines) == 0; depth++ {
		g = g.Multi
	}
	if k.rows.shapes != nil {
		var polygons [][][][2]float64
		for _, q := range g.Polygons {
			var rings [][][2]float64
			for _, text := range append([]string{q.Outer}, q.Inner...) {
				ring, err := kmlPositions(text)
				if err != nil {
					return k.rows.bad(noPosition, err, where)
				}
				rings = append(rings, ring)
			}
			polygons = append(polygons, rings)
		}
		if len(polygons) == 0 {
			return k.rows.bad(noPosition, errors.New("no polygon"), where)
		}
		k.rows.shapes.add(strings.TrimSpace(p.Name), polygons)
		return nil
	}
	values := map[string]string{"name": p.Name, "when": p.When}
	for i := len(folders) - 1; i >= 0 && values["folder"] == ""; i-- {
		values["folder"] = folders[i]
	}
	for _, d := range p.Data {
		values[d.Name] = strings.TrimSpace(d.Value)
	}
	for _, d := range p.Simple {
		values[d.Name] = strings.TrimSpace(d.Text)
	}
	if k.rows.in.Columns[2] == "" {
		if err := k.choose(values); err != nil {
			return fmt.Errorf("%s: %w", where(), err)
		}
	}
	k.rows.when = []byte(values[k.rows.opt.Time])
	if len(g.Points) == 0 {
		return k.rows.bad(noPosition, errors.New("no Point, but another geometry or none"), where)
	}
	for _, text := range g.Points {
		at, err := kmlPositions(text)
		if err == nil && len(at) != 1 {
			err = fmt.Errorf("a Point of %d positions", len(at))
		}
		if err != nil {
			err = k.rows.bad(noPosition, err, where)
		} else {
			err = k.rows.add(at[0][0], at[0][1], []byte(values[k.column]), where)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose finds the value that is the feature from the values of the first placemark.
func (k *kmlReader) choose(values map[string]string) error {
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	l, err := k.rows.columns(names, false)
	switch {
	case k.rows.fixed != nil:
		k.column = "@file"
	case err == nil:
		k.column = names[l.feature]
	case k.rows.opt.Feature != "" || k.rows.opt.Time != "" && !slices.Contains(names, k.rows.opt.Time) || values["folder"] == "":
		return err
	}
	k.rows.in.Columns[2] = k.column
	return nil
}

// kmlPositions parses longitudes and latitudes such as "13.4,52.5,0 13.5,52.5".
func kmlPositions(text string) (out [][2]float64, err error) {
	for field := range strings.FieldsSeq(text) {
		x, rest, ok := strings.Cut(field, ",")
		y, _, _ := strings.Cut(rest, ",")
		lon, errX := strconv.ParseFloat(x, 64)
		lat, errY := strconv.ParseFloat(y, 64)
		if !ok || errX != nil || errY != nil {
			return nil, fmt.Errorf("position %.40q: want longitude,latitude", field)
		}
		out = append(out, [2]float64{lon, lat})
	}
	return out, nil
}
