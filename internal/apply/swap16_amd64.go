//go:build !race

package apply

import "github.com/halo-mpi/halo/internal/sys"

// hasSwap16 reports whether there is swap16: not on the first processors of 64 bits.
func hasSwap16() bool { return sys.HasCX16() }
