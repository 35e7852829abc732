// Package fields answers what the fields of a document are: a schema, and the values.
//
// A Schema lists fields. Each has a name, a type and, if they differ from the name, the columns of
// a table or the names in JSON that it is read from:
//
//	text     words to search for, with an analyzer and a weight of its own
//	keyword  exact values, one or several, to filter by and to count
//	number   one number, to filter and to sort by
//	date     one moment, to filter and to sort by
//	geo      one point on the globe, to filter by
//	stored   kept to be shown, not searched
//
// All fields are stored, so that a hit can show them, unless they are marked unstored.
//
// A schema is written as a list for a command line or as JSON for a file:
//
//	title:text:english:weight=3,body:text,tags:keyword:split=|,year:number,at:geo:from=lat/lon
//
//	{"fields": [
//	  {"name": "title", "type": "text", "analyzer": "english", "weight": 3},
//	  {"name": "body", "type": "text"},
//	  {"name": "tags", "type": "keyword", "split": "|"},
//	  {"name": "year", "type": "number"},
//	  {"name": "at", "type": "geo", "from": ["lat", "lon"]}
//	]}
//
// # Values
//
// Values are the bytes that stood in the document. An empty one, and what the field's Missing
// names, is no value. What they mean:
//
//   - A number is what Go, C and JSON call one: 7, -0.5, 1e6. Whole numbers beyond 2^53 that 64-bit
//     floating point cannot hold are refused, as are infinities and NaN.
//   - A date is 2024, 2024-02, 2024-02-29, or that with a time behind T or a blank: 14:30,
//     14:30:05, 14:30:05.123; in UTC, unless Z or an offset such as +01:00 follows. What is left
//     out is the first: 2024 is 2024-01-01T00:00:00Z. Parts of a second beyond milliseconds are cut
//     off.
//   - A point is "48.2,16.4", latitude first; {"lat": 48.2, "lon": 16.4} (lng, latitude and
//     longitude do, too); or GeoJSON's {"type": "Point", "coordinates": [16.4, 48.2]}, which has
//     the longitude first. Two bare numbers in a list are refused, since both orders are in use.
//     Points are kept to 1e-7 degrees, about a centimetre.
package fields
