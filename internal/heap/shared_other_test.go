//go:build !linux

package heap

import "testing"

// addShared adds nothing: this platform has no memory that processes share.
func addShared(testing.TB, map[string]func(*Budget) *Heap) {}
