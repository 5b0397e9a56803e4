//go:build !race

package apply

import "github.com/halo-mpi/halo/internal/sys"

// hasSwap16 reports whether swap16 works: the first 64-bit processors lack the instruction.
func hasSwap16() bool { return sys.HasCX16() }
