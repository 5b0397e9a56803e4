//go:build !race

package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

// Publish stores n in *word with release order: a process that loads n sees all that was stored
// before. Unlike an atomic store it does not wait until the store is visible, which takes as long as
// the transfer of a line from core to core and back; the next loads of the caller proceed meanwhile.
// A caller whose next load must come after the store needs an atomic operation in between.
//
// Neither the processor nor the compiler reorders stores.
func Publish(word *atomic.Uint64, n uint64) { *(*uint64)(unsafe.Pointer(word)) = n }

// Publish32 is Publish of a shorter word.
func Publish32(word *atomic.Uint32, n uint32) { *(*uint32)(unsafe.Pointer(word)) = n }

// publish is Publish of a word of a ring.
func publish(word *uint64, n uint64) { *word = n }
