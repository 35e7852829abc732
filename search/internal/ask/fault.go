package ask

import (
	"fmt"
	"strings"
)

// Fault prefixes an error with "search: " unless it has that prefix already, as the errors of
// nested searches do.
func Fault(err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "search: ") {
		return err
	}
	return fmt.Errorf("search: %w", err)
}
