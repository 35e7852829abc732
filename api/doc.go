// Package api answers the question: what can be asked, and what comes back?
//
// Each question is a struct whose fields are its parameters. Tags of a field name the parameter and
// say everything that a door needs to know of it. The doors derive from that what they show and
// read: the flags and help of the command (package api/flags), the parameters of URLs and the
// fields of JSON (Question.Values and Question.JSON), the tools for assistants and the OpenAPI
// document (Question.Schema). Nothing is computed here: a question is turned into a request of the
// library, and its result into an answer.
//
// # Tags
//
//	ask:"k"          the name, in all doors; a flag has - for _
//	also:"n,rows"    older names, which mean the same
//	flag:"k"         the flag, where it is not the name; flag:"" if there is none
//	short:"k"        the flag's letter
//	help:"..."       what it does, in one sentence without a full stop
//	default:"10"     the value if none is given; without it the zero value. A pointer stays nil, so
//	                 that one sees whether a value was given; then it is what nil stands for
//	range:"1..100"   the smallest and largest value; either may be missing
//	above:"0"        the value must be larger
//	                 (of a list, these hold for each of its values)
//	one:"a,b"        the allowed values of a text, or the name of one of the lists in names.go; of a
//	                 type with names, those of them that are allowed
//	some:"models"    a list whose values are only some of those that are allowed
//	group:"Ranking"  the heading in help; without it the first group
//	not:"mcp: why"   doors without this parameter, each with the reason, separated by ;
//	at:"mcp: default=5 most=50, why"
//	                 doors with another default, least or largest value, each with the reason
//	path:"word"      a URL has it in its path, as {word}
//	needed:""        the question means nothing without it
//	file:""          the value names a file, or may
//	filled:""        a value that is given must not be empty
//	commas:""        the values of a list may have commas, so each is given by itself
//	python:"from_"   the argument of Python, where it is not the name
//
// The tag not of an embedded struct holds for all of its fields.
//
// For example
//
//	type Greet struct {
//		Name  string `ask:"name" help:"whom to greet"`
//		Times int    `ask:"times" default:"1" range:"1..9" help:"how often" not:"mcp: too loud"`
//	}
//
// is the flag --times with the default 1, refuses ?times=10 with "times 10: want 1 to 9", and is
// not offered to assistants. A whole question is left out of a door where it is declared, again
// with the reason.
//
// Experimental: it may change with any version; package collocate says what may not.
package api
