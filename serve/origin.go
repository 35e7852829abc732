package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A page of another site must not read the index through its visitor's browser. There are two
// attacks. The site can let its own name resolve to this machine (DNS rebinding): then the Host
// header has that name. Or the page can send requests from its own origin: then browsers say so in
// Sec-Fetch-Site and Origin.

// checkHost checks that a request was meant for this server: for an IP address, for localhost, or
// for one of Options.Hosts.
func (v *Server) checkHost(r *http.Request) error {
	if last := v.lastHost.Load(); last != nil && *last == r.Host {
		return nil
	}
	if !v.isOwn(r.Host) {
		return fmt.Errorf("host %q is not one of this server's names: see serve.Options.Hosts", r.Host)
	}
	host := strings.Clone(r.Host) // a copy, so as not to keep the request alive
	v.lastHost.Store(&host)
	return nil
}

func (v *Server) isOwn(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true // no name, so no rebinding
	}
	for _, allowed := range v.o.Hosts {
		if allowed == "*" || strings.EqualFold(allowed, host) {
			return true
		}
	}
	return false
}

// checkOrigin refuses requests from pages of other origins, unless Options.Origins allows them, or
// a user follows a link to the page.
func (v *Server) checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin != "" && slices.Contains(v.o.Origins, origin) {
		return nil
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "same-origin", "none":
		return nil
	case "":
		if origin == "" {
			return nil // not a browser
		}
		if u, err := url.Parse(origin); err == nil && u.Host == r.Host {
			return nil
		}
	default:
		if r.Header.Get("Sec-Fetch-Mode") == "navigate" && (slices.Contains(views, r.URL.Path) || r.URL.Path == "/docs") &&
			safe(r.Method) {
			return nil
		}
	}
	return fmt.Errorf("pages of %s may not send requests to this server: see serve.Options.Origins",
		orUnknown(origin))
}

func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

func orUnknown(origin string) string {
	if origin == "" {
		return "another site"
	}
	return fmt.Sprintf("%q", origin)
}
