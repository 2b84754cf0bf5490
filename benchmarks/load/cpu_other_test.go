//go:build !unix

package load_test

import "time"

// processCPU is not known here.
func processCPU() time.Duration { return 0 }
