package serve

import (
	"net/http"
	"net/netip"
	"testing"
)

// Behind a proxy, clients are told apart by the last address of X-Forwarded-For that is no proxy.
// From others the header is ignored: anybody can send it.
func TestClientsBehindAProxy(t *testing.T) {
	v := newServer(Options{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("fd00::/16")}})
	for _, x := range []struct {
		from      string
		forwarded []string
		want      string
	}{
		{"10.1.2.3:80", []string{"192.0.2.7"}, "192.0.2.7"},
		{"10.1.2.3:80", []string{"192.0.2.7:4711"}, "192.0.2.7"},
		{"[::ffff:10.1.2.3]:80", []string{"192.0.2.7"}, "192.0.2.7"},
		{"10.1.2.3:80", []string{"6.6.6.6, 192.0.2.7, 10.9.9.9"}, "192.0.2.7"},
		{"10.1.2.3:80", []string{"6.6.6.6, 192.0.2.7", "10.9.9.9"}, "192.0.2.7"},
		{"10.1.2.3:80", []string{"6.6.6.6, unknown, 10.9.9.9"}, "10.9.9.9"},
		{"10.1.2.3:80", []string{"6.6.6.6, "}, "10.1.2.3"},
		{"10.1.2.3:80", nil, "10.1.2.3"},
		{"[fd00::1]:80", []string{"[2001:db8:1:2:3::4]:99"}, "2001:db8:1:2::"},
		{"192.0.2.7:80", []string{"6.6.6.6"}, "192.0.2.7"},
		{"[2001:db8:1:2:3::4]:80", []string{"6.6.6.6"}, "2001:db8:1:2::"},
	} {
		r := &http.Request{RemoteAddr: x.from, Header: http.Header{"X-Forwarded-For": x.forwarded}}
		if got := v.clientOf(r).String(); got != x.want {
			t.Errorf("from %s, for %q: the client is %s, want %s", x.from, x.forwarded, got, x.want)
		}
	}
	r := &http.Request{RemoteAddr: "10.1.2.3:80", Header: http.Header{"X-Forwarded-For": {"6.6.6.6"}}}
	if got := newServer(Options{}).clientOf(r).String(); got != "10.1.2.3" {
		t.Errorf("without proxies the client is %s, want the address of the connection", got)
	}
}
