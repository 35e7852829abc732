// Package serve answers over HTTP what Collocate knows: searches from an index that stays open, on
// the cores or on a GPU, the company of words, and kinds of places that keep company.
//
// # Requests
//
//	GET /                     a page, for people
//	GET /v1/openapi.json      the description of all that programs can ask
//	GET /v1/search?q=WORDS    the answer to one query, an object of JSON
//	POST /v1/search           the answers to many queries, a line of JSON for each in and out
//	GET /v1/documents/ID      a document with its stored text and fields
//	GET /v1/words?prefix=P    common words
//	GET /v1/words/WORD        how often a word occurs; below it /company, the words it is found
//	                          with, /dispersion, /similar, the words that are used alike, and /map,
//	                          these on a plane
//	GET /v1/concordance?q=Q   words in their contexts
//	GET /v1/keywords?q=WORDS  what sets the best documents for a query apart, from all others or
//	                          from those for against=WORDS
//	GET /v1/analogy?a=A&b=B&c=C   a is to b as c is to what?
//	GET /v1/places            kinds of places; below it /points, /patterns, /instances, /quotients,
//	                          /local, /summary, /curve, /co-occurrence, /enrichment
//	POST /v1/jobs             patterns at several distances; GET /v1/jobs/ID for the result, DELETE
//	                          to cancel, GET /v1/jobs/ID/events to follow it
//	GET /v1/status            about the server; /v1/health, /v1/ready and /v1/version tell less
//	GET /metrics              counters, for Prometheus
//
// and, as it was before there was a /v1,
//
//	GET /search?q=WORDS       the same as /v1/search, but it does not tell whether there are more
//	POST /search              the answers to many queries, but an array of JSON in
//	GET /healthz, /readyz     the same as /v1/health and /v1/ready
//
// A query is given by these names, in a URL or as the fields of an object in an array; all but q
// may be left out:
//
//	q         the words
//	k         number of documents, 10 unless said; at most [Options.MaxK]
//	from      documents to leave out before the first; offset, its old name, means the same
//	mode      or: any of the words; and: all of them
//	model     bm25, boolean, cosine, dirichlet or dph with their usual parameters, or bm25f over the
//	          text fields; unless said, [Options.Model]
//	weights   of the text fields in bm25f, such as title=3,body=1; unless said, those of the schema
//	algorithm, engine   what does the work; all give the same documents
//	snippets  1 or true: show where the words are, if the index stores text
//	explain   1 or true: show what each word, or each part of a query, gives to a score
//	plain     1 or true: take q for words; else it is a query of package search/query
//	count     1 or true: tell how many documents match in all
//	stats     1 or true: tell what the search had to do
//	fields    stored fields to show, with commas between them; in an object a list
//	facets    fields whose values are counted over all answers, FIELD, FIELD:N or FIELD/STEP, with
//	          commas between them; in an object a list
//	sort      FIELD or FIELD:desc: order by the values of a field instead of by score
//	proximity sdm, or sdm:0.85,0.1,0.05: neighbours in q count more where they are neighbours
//	expand    rm3 or bo1, or rm3:docs=10,terms=10,weight=0.5: add words of the best documents
//
// A name that is not among these is an error, and so is one that is said twice, one in other
// letters (Q for q), and null.
//
// # Answers
//
// An [Answer] has the names and numbers that `collocate search --json` prints. Scores are float32,
// written with as many digits as it takes to read the same bits again. For three documents,
// droplets "lipid droplets store lipid", membranes "a membrane is made of lipid" and bacteria
// "bacteria move", GET /search?q=lipid+move&k=2 gives, but on one line,
//
//	{"query":"lipid move","k":2,"mode":"or","hits":[
//	  {"rank":1,"id":"bacteria","doc":2,"score":1.3811127},
//	  {"rank":2,"id":"droplets","doc":0,"score":0.55751455}],"micros":12}
//
// micros is the time of the search alone. Many queries are answered in the order in which they were
// asked, a line each (NDJSON), in parts; they share the cores or the device, so there is no time
// for each.
//
// # Errors
//
// What cannot be answered is {"error":"..."} with one of these statuses:
//
//	400  the request says something wrong
//	401  the token is missing or wrong
//	403  it comes from a page of another origin
//	404  another path, or no such document, word, matrix, place or job
//	405  another method
//	413  a body of more than 1 MB
//	421  another host
//	429  the server is busy, or the client has too many requests waiting
//	500  the search failed
//	503  the request took too long, the index cannot be read, or the server is about to stop
//
// With 429 and 503 comes Retry-After. All queries of a POST are looked at before the first is
// answered, so that a wrong one gives status 400 and nothing else; if the search itself fails later
// on, the error is the last line.
//
// # Limits
//
// [Limits] bound words, queries, time, waiting requests and connections. Requests wait in two
// lanes, and long ones rest while short ones come; a short query that takes long becomes a long
// one. In each lane clients get equal shares of the time. See gate.go and turn.go. Clients are told
// apart by address.
//
// A client that goes away ends the search, and one that reads or sends nothing for half a minute is
// left. When connections run out, those that wait for their clients are closed.
//
// Only requests for an address, for localhost or for one of [Options.Hosts] are answered, and pages
// of other origins can ask only if [Options.Origins] has theirs. [Options.Token] is a password for
// clients, [Options.TLSCert] makes it HTTPS.
//
// # Shards
//
// A server may have one shard of an index that was cut (see index.WriteShard), and another, a root,
// may ask those of all shards: see [NewRoot] and [Root]. It answers searches, batches and documents
// as a server of the whole index would, and says in "shards" how much of the index an answer
// covers:
//
//	"shards":{"answered":2,"of":3,"documents":66,"of_documents":99,"missing":["shard http://..."]}
//
// # Another index
//
// [Server.Reload] puts another index in the place of the one that is served. Each request is
// answered from one of them; the old one is closed when its last request has ended.
package serve
