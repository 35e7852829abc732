package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/api/flags"
)

// isServer reports whether an argument is the address of a server and not a folder.
func isServer(dir string) bool {
	return strings.HasPrefix(dir, "http://") || strings.HasPrefix(dir, "https://")
}

// clientFlags are the flags that concern only the connection and the output.
var clientFlags = []string{"token-file", "json", "quiet", "verbose", "all", "vector-of"}

// remoteQuery returns the parameters for a server: the query, and the flags that were given. A flag
// that is not for a server is an error.
func remoteQuery(words string, given *pflag.FlagSet) (ask url.Values, err error) {
	if ask = (url.Values{}); words != "" {
		ask.Set("q", words)
	}
	given.Visit(func(f *pflag.Flag) {
		p := flags.Param(f)
		switch {
		case p != nil && p.Without(api.HTTP) == "":
			ask.Set(p.Name, f.Value.String())
		case err == nil && !slices.Contains(clientFlags, f.Name):
			err = usagef("--%s is not supported with a server; leave it out", f.Name)
		}
	})
	return ask, err
}

// ofOneIndex matches the address of one of several indexes of a server.
var ofOneIndex = regexp.MustCompile(`/v1/indexes/[^/?]+$`)

// searchRemote searches through a server.
func (a *app) searchRemote(ctx context.Context, address, words string, f *searchFlags,
	given *pflag.FlagSet) error {
	ask, err := remoteQuery(words, given)
	if err != nil {
		return err
	}
	if words == "" && len(f.ask.Vector) == 0 && f.ask.Like == "" && f.ask.Sparse == "" {
		return usagef("the query is missing: a server answers one query")
	}
	token, err := readToken("token-file", f.tokenFile)
	if err != nil {
		return err
	}
	where := strings.TrimRight(address, "/")
	if !ofOneIndex.MatchString(where) {
		where += "/v1"
	}
	if f.all {
		ask.Set("k", strconv.Itoa(math.MaxInt32))
	}
	where += "/search?" + ask.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return usageError{err}
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if f.all {
		request.Header.Set("Accept", "application/x-ndjson")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if f.all && response.StatusCode == http.StatusOK {
		return a.printRows(address, response, f)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if response.StatusCode != http.StatusOK {
		var said struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(body, &said); said.Error == "" {
			said.Error = response.Status
		}
		return fmt.Errorf("%s: %s", address, said.Error)
	}
	var answer api.Answer
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber() // stored fields are shown as they were written
	if err := in.Decode(&answer); err != nil {
		return fmt.Errorf("%s: the answer is not one of 'collocate serve': %w", address, err)
	}
	return a.printRemote(&answer, f)
}

// fieldLine formats the value of a stored field as one line.
func fieldLine(value any) string {
	list, several := value.([]any)
	if !several {
		return strings.Join(strings.Fields(fmt.Sprint(value)), " ")
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fieldLine(v)
	}
	return strings.Join(parts, ", ")
}

// showFields makes the lines of the fields that a hit of a server shows.
func showFields(h *api.Hit, f *searchFlags) {
	for _, name := range f.ask.Show {
		if value, ok := h.Fields[name]; ok {
			h.Lines = append(h.Lines, api.FieldLine{Name: name, Value: fieldLine(value)})
		}
	}
}

// printRemote prints the answer of a server, and which part of the index it covers.
func (a *app) printRemote(answer *api.Answer, f *searchFlags) error {
	if a.json {
		return a.printJSON(answer)
	}
	a.useHighlights(f)
	for _, note := range answer.Notes {
		a.note(note)
	}
	if f.ask.Explain && answer.Parsed != "" {
		fmt.Fprintf(a.stdout, "query\t%s\n", answer.Parsed)
	}
	if f.ask.Explain {
		printExpanded(a.stdout, answer)
	}
	for i := range answer.Hits {
		showFields(&answer.Hits[i], f)
		printHit(a.stdout, &answer.Hits[i], f)
	}
	if answer.Total != nil {
		fmt.Fprintf(a.stdout, "%s\n", counted(*answer.Total, "document"))
	}
	printFacets(a.stdout, answer.Facets)
	if answer.Stats != nil {
		printStats(a.stdout, answer.Stats, time.Duration(answer.Micros)*time.Microsecond)
	}
	if len(answer.Hits) == 0 && (answer.Total == nil || *answer.Total == 0) {
		a.summary("nothing found")
	}
	c := answer.Shards
	switch {
	case c == nil:
	case c.Answered == c.Of:
		a.summary("%s", covers(c))
	default:
		a.warn("incomplete: only %s", covers(c))
	}
	if c != nil {
		for _, why := range c.Missing {
			a.warn("missing: %s", why)
		}
	}
	return nil
}

// covers describes the part of an index that an answer covers.
func covers(c *api.Coverage) string {
	return fmt.Sprintf("%d of %s, %d of %s", c.Answered, counted(c.Of, "shard"),
		c.Documents, counted(int64(c.OfDocuments), "document"))
}
