//go:build !amd64 || race

package shmfmt

import "sync/atomic"

// Publish stores n in *word with release order: a process that loads n sees all that was stored
// before.
func Publish(word *atomic.Uint64, n uint64) { word.Store(n) }

// Publish32 is Publish of a shorter word.
func Publish32(word *atomic.Uint32, n uint32) { word.Store(n) }

// publish is Publish of a word of a ring.
func publish(word *uint64, n uint64) { atomic.StoreUint64(word, n) }
