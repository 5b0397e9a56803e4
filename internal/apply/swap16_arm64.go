//go:build !race

package apply

// hasSwap16 reports whether swap16 works: it does on all processors of the architecture.
func hasSwap16() bool { return true }
