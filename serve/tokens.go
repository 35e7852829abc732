package serve

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
)

// Token is a password of clients.
type Token struct {
	// Secret is what clients send in the header "Authorization: Bearer TOKEN".
	Secret string
	// Name is the client's name in the access log; may be empty.
	Name string
	// Write lets its owners change indexes, if Options.Writable does. All may read.
	Write bool
}

// tokens are the tokens by their hashes: to find one takes no time that depends on its secret.
type tokens map[[sha256.Size]byte]*knownToken

type knownToken struct {
	Token
	hash [sha256.Size]byte
}

// SetToken replaces all tokens by one that may read and write; "" means that none is needed.
// Requests in progress go on.
func (v *Server) SetToken(token string) { v.SetTokens([]Token{{Secret: token, Write: true}}) }

// SetTokens replaces the tokens, one of which clients must send. Those without a secret are left
// out; without any, clients need none. Requests in progress go on.
func (v *Server) SetTokens(list []Token) {
	all := tokens{}
	for _, t := range list {
		if t.Secret != "" {
			hash := sha256.Sum256([]byte(t.Secret))
			all[hash] = &knownToken{t, hash}
		}
	}
	if len(all) == 0 {
		v.tokens.Store(nil)
		return
	}
	v.tokens.Store(&all)
}

// authorized finds the token of the request, and reports whether it may go on.
func (x *exchange) authorized() bool {
	all := x.tokens.Load()
	if all == nil {
		return true
	}
	said, ok := strings.CutPrefix(x.r.Header.Get("Authorization"), "Bearer ")
	if _, password, basic := x.r.BasicAuth(); basic && x.r.URL.Path == "/plain" {
		said, ok = password, true
	}
	if !ok {
		return false
	}
	x.token = (*all)[sha256.Sum256([]byte(said))]
	return x.token != nil
}

var errReadOnly = errors.New("the token may only read")

// mayWrite reports whether the client may change indexes, or refuses the request.
func (x *exchange) mayWrite() bool {
	switch {
	case !x.o.Writable:
		x.refuse(http.StatusForbidden, errors.New("the server does not change its indexes: "+
			"it was started without serve.Options.Writable"))
	case x.readsOnly():
		x.refuse(http.StatusForbidden, errReadOnly)
	default:
		return true
	}
	return false
}
