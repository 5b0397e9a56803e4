//go:build !linux

package leak

// seen are the things that this system shows: none.
func seen() []thing { return nil }
