// Package fields describes the fields of documents: a schema, and the values.
//
// ParseList and ParseJSON make a Schema, which text.Options takes to read fields from files.
// Schema.Values makes the values of a document in a program. Package index stores them, and
// index/columns filters and sorts by them.
//
// Each field of a Schema has a name, a type and, if they differ from the name, the columns of a
// table or the fields of JSON that it is read from. These are the types:
//
//	text     words to search for, with an analyzer and a weight of its own
//	keyword  exact values, one or several, to filter by and to count
//	number   one number, to filter and to sort by
//	date     one moment, to filter and to sort by
//	geo      one point on the globe, to filter by
//	stored   kept to be shown, not searched
//	vector   numbers of a fixed count, to find documents with similar ones
//	sparse   weighted tokens, to rank by their dot product with those of a query
//
// All fields are stored, so that hits can show them, unless they are marked unstored.
//
// A vector field has options of its own: the number of dimensions, a metric (cosine, dot or
// euclidean), the precision of what is stored (float32, float16 or int8), and optional, which
// allows documents without a vector. Vectors are not among the stored fields, nor are weighted
// tokens.
//
// A schema is written as a list on a command line, or as JSON in a file. The analyzer of a text
// field may be a chain of package text, such as words|lower|stem(english).
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
// Values are kept as the bytes of the document. An empty value, and the text that Missing names,
// count as no value. Values are interpreted as follows:
//
//   - A number is written as in Go, C and JSON: 7, -0.5, 1e6. Integers beyond 2^53 that a float64
//     cannot represent are refused, as are infinities and NaN.
//   - A date is 2024, 2024-02 or 2024-02-29, optionally followed by T or a blank and a time: 14:30,
//     14:30:05, 14:30:05.123. It is in UTC unless Z or an offset such as +01:00 follows. Missing
//     parts are the earliest possible: 2024 is 2024-01-01T00:00:00Z. Digits beyond milliseconds are
//     cut off.
//   - A point is "48.2,16.4", latitude first; {"lat": 48.2, "lon": 16.4} (also with latitude, and
//     with lng, long or longitude); or GeoJSON's {"type": "Point", "coordinates": [16.4, 48.2]},
//     which has the longitude first. A list of two numbers is refused, because both orders are in
//     use. Points are rounded to 1e-7 degrees, about a centimetre.
//   - A vector is a JSON array of numbers, [0.5, -1, 2e-3], each rounded to float32, or what
//     VectorValue makes. Its length is at most 2^60 and, unless it is zero, at least 2^-60; under
//     cosine it must not be zero. int8 takes whole numbers from -128 to 127; float16 rounds. A
//     field that is Many has an array of such arrays, or several values; one array is one vector.
//   - Weighted tokens are a JSON object of tokens and numbers, {"solar": 187, "##s": 12}, which the
//     analyzer impact of package text reads.
package fields
