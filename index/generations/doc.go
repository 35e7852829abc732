// Package generations lets many processes change one index in an object store, without a server of
// their own that would order the changes.
//
// A store keeps objects by name: S3 and servers with its protocol, or a folder. It must be able to
// make an object only if there is none of that name (S3: If-None-Match). Everything rests on that.
//
//	generations/fffffffffffffff8-7   generation 7: what the index is after seven commits
//	segments/s123456789012345/...    the files of a segment, never changed
//	leases/fffffffffffffffc-3        who merges and collects garbage, and for how long
//	probe                            shows that the store refuses to make an object twice
//
// A generation is a small manifest of segments. A commit to generation 7 makes generation 8. If
// another process has made it first, the commit reads that one, applies its change to it, and makes
// generation 9. So commits have one order, and each is made with full knowledge of those before.
//
// The hexadecimal number in a name is 2^64-1 less the number of the generation. Stores list names
// in ascending order, so the newest generation is the first name: one request of one name finds it.
// Who knows a generation asks for the next by its name; that there is none is one request, too.
//
// # What is removed when
//
// An old generation stays readable for a grace period after it was superseded, one hour unless the
// index was made with another. So do segments that no longer belong to the newest. A segment that
// no generation lists, because its writer died, is removed by two steps: a commit first says that
// it must never be listed again (Generation.Dropped), and after the grace period its objects are
// deleted. A slow writer therefore learns of it, and uploads again; it never commits a segment
// that is being removed. The lease only saves work: two collectors at once would do no harm.
//
// Names of generations become free again when old ones are removed. A process that slept for longer
// than the grace period could then make, or read, a generation that is out of line. So whoever uses
// a generation found by its name checks afterwards that no more than half the period has passed
// since it knew the newest, by its monotonic clock, and otherwise looks anew. Only durations are
// taken from local clocks. Ages of objects are differences of times that the store told.
//
// # When the answer of a commit is lost
//
// Each commit carries a random token, and each generation lists the tokens of the last commits. A
// commit without an answer is tried again. If the generation is there by then, its token tells
// whose it is. Only when the store cannot be reached any more, the error is ErrUncertain.
//
// Experimental: it may change with any version; package collocate says what may not.
package generations
