package encoder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// server is a source that is asked by HTTP.
type server struct {
	address string
	key     string
	client  *http.Client
}

func newServer(address, key string) (asker, string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, "", fmt.Errorf("%q is not the address of a server", address)
	}
	name := u.Redacted()
	return &server{address: address, key: key, client: &http.Client{
		// A key must not go elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, name, nil
}

// waits are the pauses before a request is sent again.
var waits = []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}

// longest is the longest pause that a server may ask for.
const longest = 30 * time.Second

func (s *server) ask(ctx context.Context, request []byte, most int) ([]byte, error) {
	for try := 0; ; try++ {
		answer, again, err := s.once(ctx, request, most)
		if err == nil || again < 0 || try == len(waits) {
			return answer, err
		}
		timer := time.NewTimer(max(again, waits[try]))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, err // what the server said
		case <-timer.C:
		}
	}
}

// once sends a request. With an error it returns how long to wait before the request is sent again,
// or -1 if that is no use.
func (s *server) once(ctx context.Context, request []byte, most int) (_ []byte, again time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(request))
	if err != nil {
		return nil, -1, err
	}
	r.Header.Set("Content-Type", "application/json")
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return nil, 0, err // also a server that is about to start
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, 0, err
	case len(answer) > most:
		return nil, -1, fmt.Errorf("the answer has more than %d bytes", most)
	case resp.StatusCode == http.StatusOK:
		return answer, 0, nil
	}
	err = fmt.Errorf("it answers with status %d: %s", resp.StatusCode, shown(answer))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return nil, min(time.Duration(max(seconds, 0))*time.Second, longest), err
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, -1, errors.Join(err, errors.New("the key is taken from the variable COLLOCATE_ENCODER_KEY, for a reranker COLLOCATE_RERANKER_KEY"))
	}
	return nil, -1, err
}

func (s *server) close() error {
	s.client.CloseIdleConnections()
	return nil
}
