package serve

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is the certificate in two files. It is read again when they change, as certificates
// are renewed every few weeks. While the new files do not match each other, the old certificate
// stays.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	of     [2]time.Time // modification times of the files that loaded was read from
	looked time.Time
	tried  [2]time.Time // modification times of the files that could not be read
}

// lookAgain is the shortest interval between two checks of the files.
const lookAgain = time.Second

// newCertificate reads a certificate and its key.
func newCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log}
	c.of, c.looked = c.changed(), time.Now()
	loaded, err := tls.LoadX509KeyPair(cert, key)
	c.loaded = &loaded
	return c, err
}

// get implements tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookAgain {
		c.looked = now
		if at := c.changed(); at != c.of && at != c.tried {
			if loaded, err := tls.LoadX509KeyPair(c.cert, c.key); err == nil {
				c.loaded, c.of = &loaded, at
			} else {
				c.tried = at
				c.log.Error("the new certificate cannot be used: the old one stays", "error", err)
			}
		}
	}
	return c.loaded, nil
}

// changed returns the modification times of the files, zero for a missing one.
func (c *certificate) changed() (at [2]time.Time) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}
