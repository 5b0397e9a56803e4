// Package logs has functions about which analyzers of other packages must know something.
package logs

import (
	"fmt"
	"os"
)

// Say formats as fmt.Printf does.
func Say(format string, args ...any) { fmt.Printf(format, args...) }

// Die does not return.
func Die() { os.Exit(1) }

// Old is of yesterday.
//
// Deprecated: use Say.
func Old() {}
