package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var silent = slog.New(slog.DiscardHandler)

// start runs a server with a handler. stop cancels its context, and ended receives the error of
// run.
func start(t *testing.T, h http.HandlerFunc, grace time.Duration) (url string, stop func(), ended chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended = make(chan error, 1)
	go func() { ended <- run(ctx, l, h, Options{Log: silent}, grace) }()
	return "http://" + l.Addr().String(), cancel, ended
}

// A server that stops waits for its requests.
func TestStopWaitsForRequests(t *testing.T) {
	begun := make(chan bool)
	url, stop, ended := start(t, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		time.Sleep(100 * time.Millisecond)
		if r.Context().Err() == nil {
			io.WriteString(w, "whole")
		}
	}, time.Minute)
	go func() {
		<-begun
		stop()
	}()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "whole" {
		t.Errorf("answer %q, %v; want whole", body, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the server still listens after it has stopped")
	}
}

// A server that stops cancels requests after the grace period, and waits until they have ended,
// because the index may be closed then.
func TestStopCancelsLongRequests(t *testing.T) {
	begun, over := make(chan bool), make(chan bool)
	url, stop, ended := start(t, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		time.Sleep(100 * time.Millisecond)
		close(over)
	}, 10*time.Millisecond)
	go func() {
		<-begun
		stop()
	}()
	if resp, err := http.Get(url); err == nil {
		resp.Body.Close()
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	select {
	case <-over:
	default:
		t.Error("the server ended before its request")
	}
}

// If the listener fails, the server ends with its error.
func TestBrokenListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := run(t.Context(), l, http.NotFoundHandler(), Options{Log: silent}, grace); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want %v", err, net.ErrClosed)
	}
}

// writeCertificate makes a certificate with a serial number and writes it to the files in o.
func writeCertificate(t *testing.T, o Options, number int64) (cert []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(number), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err = x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, o.TLSCert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	write(t, o.TLSKey, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return cert
}

// With a certificate the server uses HTTPS and HTTP/2.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	o := Options{Log: silent, TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	cert := writeCertificate(t, o, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- New(elife(t, false), o).Run(ctx, l) }()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true}}
	resp, err := client.Get("https://" + l.Addr().String() + "/v1/search?q=cell")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Errorf("%s over %s, want 200 over HTTP/2", resp.Status, resp.Proto)
	}
	client.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A renewed certificate is used for new connections; one that does not fit its key is not.
func TestRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	o := Options{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	writeCertificate(t, o, 1)
	c, err := newCertificate(o.TLSCert, o.TLSKey, silent)
	if err != nil {
		t.Fatal(err)
	}
	number := func() int64 {
		t.Helper()
		c.looked = time.Time{}
		got, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		about, err := x509.ParseCertificate(got.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return about.SerialNumber.Int64()
	}
	later := func(name string, hours int) {
		t.Helper()
		at := time.Now().Add(time.Duration(hours) * time.Hour)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	writeCertificate(t, o, 2)
	later(o.TLSCert, 1)
	if got := number(); got != 2 {
		t.Errorf("certificate %d, want the renewed one, 2", got)
	}
	write(t, o.TLSKey, "half a ")
	later(o.TLSKey, 2)
	if got := number(); got != 2 {
		t.Errorf("with a broken key: certificate %d, want the old one, 2", got)
	}
	writeCertificate(t, o, 3)
	later(o.TLSKey, 3)
	if got := number(); got != 3 {
		t.Errorf("certificate %d, want the third, 3", got)
	}
}

// While a server drains, it answers requests and closes their connections.
func TestDrainClosesConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	v := New(elife(t, false), Options{Log: silent})
	serving, end := context.WithCancel(t.Context())
	go func() { ended <- run(serving, l, v, v.o, grace) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	get := func(path string) *http.Response {
		t.Helper()
		resp, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return resp
	}
	if resp := get("/v1/search?q=cell"); resp.StatusCode != 200 || resp.Close {
		t.Errorf("before draining: %s, close %v; want 200, false", resp.Status, resp.Close)
	}
	v.draining.Store(true)
	if resp := get("/v1/search?q=cell"); resp.StatusCode != 200 || !resp.Close {
		t.Errorf("while draining: %s, close %v; want 200, true", resp.Status, resp.Close)
	}
}

// A request whose headers are too large is refused before it is held.
func TestHeadersAreBounded(t *testing.T) {
	url, stop, ended := start(t, func(http.ResponseWriter, *http.Request) {}, time.Second)
	for size, want := range map[int]int{maxHeader / 2: 200, 2 * maxHeader: 431} {
		resp, err := http.Get(url + "/?q=" + strings.Repeat("a", size))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("a request line of %d bytes: status %d, want %d", size, resp.StatusCode, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
