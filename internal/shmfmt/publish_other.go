//go:build !amd64 || race

package shmfmt

import "sync/atomic"

// Publish stores n in *word. Who loads it there sees all that was stored before.
func Publish(word *atomic.Uint64, n uint64) { word.Store(n) }
