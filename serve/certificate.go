package serve

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is the one in two files, read again when they are replaced, as certificates are
// renewed every few weeks. While the new files do not fit each other, the old one stays.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	of     [2]time.Time // when the files were changed that loaded was read from
	looked time.Time
	tried  [2]time.Time // when the files were changed that could not be read
}

// lookAgain is how long files are not looked at after they were.
const lookAgain = time.Second

// newCertificate reads the files.
func newCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log}
	c.of, c.looked = c.changed(), time.Now()
	loaded, err := tls.LoadX509KeyPair(cert, key)
	c.loaded = &loaded
	return c, err
}

// get is for tls.Config.GetCertificate.
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

// changed is when the files were last changed; a zero time stands for one that is not there.
func (c *certificate) changed() (at [2]time.Time) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}
