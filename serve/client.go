package serve

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientOf identifies clients by address.
func (v *Server) clientOf(r *http.Request) netip.Addr {
	at := addressOf(r.RemoteAddr)
	if v.isProxy(at) {
		at = v.forwardedFor(r, at)
	}
	return networkOf(at)
}

// forwardedFor returns the client of a request that a proxy has sent. Each proxy appends the
// address that it got the request from to X-Forwarded-For. So the list is read from its end, up to
// the first address that is no proxy: whatever is before it, the client may have made up.
func (v *Server) forwardedFor(r *http.Request, proxy netip.Addr) netip.Addr {
	list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, said := range slices.Backward(list) {
		at := addressOf(strings.TrimSpace(said))
		if !at.IsValid() {
			break
		}
		if proxy = at; !v.isProxy(at) {
			break
		}
	}
	return proxy
}

// isProxy reports whether an address is one of Options.Proxies.
func (v *Server) isProxy(at netip.Addr) bool {
	return slices.ContainsFunc(v.o.Proxies, func(p netip.Prefix) bool { return p.Contains(at) })
}

// addressOf parses an address with or without a port; the zero address means that there is none.
func addressOf(s string) netip.Addr {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	at, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return at.Unmap().WithZone("")
}

// networkOf returns the address that stands for a client: all of an IPv6 /64 network are one.
func networkOf(a netip.Addr) netip.Addr {
	if a.Is6() {
		p, _ := a.Prefix(64) // 64 bits is valid for IPv6
		return p.Addr()
	}
	return a
}
