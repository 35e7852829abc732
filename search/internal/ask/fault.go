package ask

import (
	"fmt"
	"strings"
)

// Fault says that an error is one of a search, unless the error says so itself: searches ask
// others.
func Fault(err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "search: ") {
		return err
	}
	return fmt.Errorf("search: %w", err)
}
