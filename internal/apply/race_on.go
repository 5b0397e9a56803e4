//go:build race

package apply

// raceBuild says that the race detector watches.
const raceBuild = true
