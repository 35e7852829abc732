// Package serve is Collocate's HTTP server. It answers searches from one or several indexes, on CPU
// cores or on a GPU, and questions about co-occurring words and co-located kinds of places.
//
// New returns a Server, which is an http.Handler; Server.Run also listens, limits and shuts down:
//
//	s, err := search.Open("my.index")
//	defer s.Close()
//	listener, err := net.Listen("tcp", "127.0.0.1:8080")
//	err = serve.New(s, serve.Options{}).Run(ctx, listener)
//
// Answers are the same as those of package search, to the bit, whatever the engine, the load or the
// number of shards. A Server handles any number of requests at once, within its Limits.
//
// # Requests
//
//	GET /                     a page for browsers
//	GET /v1/openapi.json      an OpenAPI description of all requests
//	GET /docs                 the same as a page
//	GET /v1/indexes           the indexes of the server; /v1/indexes/NAME describes one, and
//	                          /v1/indexes/NAME/search, .../documents/ID, .../words/WORD and so on
//	                          are the requests below about it. Without a name they are about the
//	                          first index
//	GET /v1/search?q=WORDS    the answer to one query, a JSON object
//	POST /v1/search           a batch: one JSON line per query in, one per answer out
//	GET /v1/documents/ID      a document with its stored text and fields
//	POST /v1/documents        add documents, one JSON object per line, or replace those with the
//	                          same IDs
//	DELETE /v1/documents/ID   delete a document; DELETE /v1/documents?q=WORDS all that match
//	POST /v1/commit           make changes durable and visible; POST /v1/merge and /v1/compact merge
//	                          segments, as jobs
//	PUT /v1/indexes/NAME      make an empty index; DELETE deletes one
//	GET /v1/words?prefix=P    frequent words that begin with P
//	GET /v1/words/WORD        how often a word occurs; below it /company (the words it co-occurs
//	                          with), /dispersion, /similar (words used in similar contexts) and
//	                          /map (these in two dimensions)
//	GET /v1/concordance?q=Q   words in their contexts
//	GET /v1/collocations      associated pairs of words; /v1/ngrams, /v1/wordlist count words
//	GET /v1/keywords?q=WORDS  words that set the best documents for a query apart from all others,
//	                          or from those for against=WORDS
//	GET /v1/analogy?a=A&b=B&c=C   a is to b as c is to which word?
//	GET /v1/places            kinds of places; below it /points, /patterns, /instances, /quotients,
//	                          /local, /area, /summary, /curve, /co-occurrence, /enrichment
//	POST /v1/jobs             patterns at several distances; GET /v1/jobs/ID for the result of this
//	                          or another job, DELETE to cancel, GET /v1/jobs/ID/events to follow it
//	GET /v1/status            the state of the server; shorter: /v1/health, /v1/ready, /v1/version
//	GET /metrics              counters for Prometheus
//
// Older paths, from before /v1, still work:
//
//	GET /search?q=WORDS       like /v1/search, without the field more
//	POST /search              a batch, sent as a JSON array
//	GET /healthz, /readyz     like /v1/health and /v1/ready
//
// The parameters of each request are declared in package api and listed in docs/reference.md, with
// their bounds and defaults. They stand in the URL or are the fields of a JSON object.
// [Options.MaxK] and [Options.Model] set the most hits and the default model of this server.
//
// An unknown parameter is an error, and so are a parameter that is given twice, one in the wrong
// case (Q for q), and null.
//
// # Answers
//
// The table of an answer, such as its hits, is sent as rows if the header Accept prefers
// application/x-ndjson or text/csv.
//
// An Answer has the same fields and values as the output of `collocate search --json`. Scores are
// float32, written with enough digits to read the same bits again. For three documents, droplets
// "lipid droplets store lipid", membranes "a membrane is made of lipid" and bacteria "bacteria
// move", GET /search?q=lipid+move&k=2 gives (on one line)
//
//	{"query":"lipid move","k":2,"mode":"or","hits":[
//	  {"rank":1,"id":"bacteria","doc":2,"score":1.3811127},
//	  {"rank":2,"id":"droplets","doc":0,"score":0.55751455}],"micros":12}
//
// The field micros is the time of the search alone. The queries of a batch are answered in their
// order, one line each (NDJSON). They share the cores or the device, so their answers have no
// micros.
//
// # Changes
//
// If Options.Writable is set, clients change the indexes that the server has opened itself. The
// parameter refresh says when a change is answered:
//
//	false  once it is in memory, the default: status 202, "durable":false
//	true   after a commit that it causes: status 200, "durable":true
//	wait   after the next commit, which comes within Options.CommitEvery
//
// A commit writes all changes to disk and makes the server answer from them: what is durable is
// visible. No crash loses what was answered with "durable":true. Lines that are no document are
// reported with their numbers, and the others are added. If a client leaves in the middle, the
// lines that have arrived stay. With job=true documents are received first and added as a job.
//
// # Errors
//
// An error is a problem of RFC 9457, application/problem+json, whose fields code and parameter are
// for programs and whose detail is for people; error is an older name of detail. It has one of
// these statuses:
//
//	400  the request is invalid
//	401  the token is missing or wrong
//	403  the request comes from a page of another origin, the token may only read, or the server
//	     changes nothing
//	404  no such path, index, document, word, matrix, place or job
//	405  the method is not allowed
//	409  another process changes the index, or there is one of that name
//	413  the body is larger than 1 MB, or the documents of a job than 1 GB
//	421  the Host header names another host
//	429  the server is busy, or the client has too many requests waiting or has used its quota
//	500  the search failed
//	503  the request took too long, the index cannot be read, or the server is stopping
//
// Answers with 429 and 503 have a Retry-After header. In a batch, the line of an invalid query is a
// problem with status 400, and the others are answered; if all are invalid, so is the request. If
// the server fails midway, that problem is the last line.
//
// # Limits
//
// Limits bounds words, queries, time, waiting requests and connections. Requests wait in two lanes,
// one for short queries and one for long work. Long requests pause while short ones arrive, and a
// short query that takes long moves to the other lane. Within a lane, clients get equal shares of
// the time; clients are told apart by address. See gate.go and turn.go.
//
// If a client disconnects, its search is cancelled. A client that neither reads nor sends for half
// a minute is disconnected. When connections run out, idle ones are closed.
//
// The Host header must be an IP address, localhost or one of Options.Hosts, and pages of other
// origins are refused unless Options.Origins lists them. Options.Token is a password for clients,
// Options.Tokens are several, of which some may only read, and Options.TLSCert enables HTTPS.
// Limits.Requests and Limits.Written are quotas of each client, by token or else by address.
//
// # Shards
//
// A server may serve one shard of an index (see index.WriteShard). A root is a server without an
// index that asks the servers of all shards; see NewRoot and Root. It answers searches, batches and
// documents as a server of the whole index would. The field "shards" says how much of the index an
// answer covers:
//
//	"shards":{"answered":2,"of":3,"documents":66,"of_documents":99,"missing":["shard http://..."]}
//
// # Replacing the index
//
// Server.Open adds the index in a folder, under a name, and Server.Look opens those again that have
// changed. Server.Reload replaces the first index by one that the program has opened. Each request
// is answered from a single index; the old one is closed when its last request has ended.
//
// Experimental: it may change with any version; package collocate says what may not.
package serve
