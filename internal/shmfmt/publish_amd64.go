//go:build !race

package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

// Publish stores n in *word. Who loads it there sees all that was stored before.
// Unlike an atomic store it does not wait until the store is visible, which takes
// as long as a line needs from core to core and back; what the caller loads next
// is on its way meanwhile. Follow it with a Fence where a load must come after.
//
// The processor keeps stores in order, and the compiler does, too.
func Publish(word *atomic.Uint64, n uint64) { *(*uint64)(unsafe.Pointer(word)) = n }

// Publish32 is Publish of a shorter word.
func Publish32(word *atomic.Uint32, n uint32) { *(*uint32)(unsafe.Pointer(word)) = n }
