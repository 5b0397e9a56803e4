//go:build !unix

package ps

import (
	"fmt"
	"io"
	"runtime"
)

// Print says that this platform has no jobs of several processes.
func Print(io.Writer, bool, string) (int, []string, error) {
	return 0, nil, fmt.Errorf("jobs of several processes are not supported on %s yet", runtime.GOOS)
}
