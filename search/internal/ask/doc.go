// Package ask answers the question: what is in a request, and what is in its result?
//
// It defines [Request], [Result] and their parts: words, modes, algorithms, the ways to spread work
// over cores ([Parallel], [Batch]), hits and statistics. Package search gives these types their
// public names, so every exported name and field here is part of the public API. Helpers that only
// the engines need are functions, such as [CheckParallel], not methods.
//
// Invariants:
//   - Enumerations have names (package choice). String prints them, and MarshalText and
//     UnmarshalText write and read them; a Parse function is a shorthand for the latter. A value
//     without a name is refused ([CheckChoices]).
//   - Nothing here evaluates anything: of the packages of search it imports only model and query.
//   - The size of a Request is a multiple of 16 bytes (see TestRequestSize in package search).
package ask
