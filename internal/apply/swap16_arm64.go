//go:build !race

package apply

// hasSwap16 reports whether there is swap16: on all of the architecture.
func hasSwap16() bool { return true }
