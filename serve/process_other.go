//go:build !unix

package serve

import "time"

func maxFiles() int { return 0 }

func processUse() (cpu time.Duration, resident int64) { return 0, 0 }
