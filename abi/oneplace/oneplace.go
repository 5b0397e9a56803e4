// Package oneplace has the program run on one P (GOMAXPROCS) from its start on, for who imports
// it: the C library, until the process has joined its job. Each P that runs something has caches
// of memory of its own, some 60 KiB in all, and what packages do to begin and a process to join
// is done one after the other. Later it has the Ps that it needs: see LockedThreads in package mpi.
//
// It imports nothing but runtime, so that it is among the first packages that are initialised.
package oneplace

import "runtime"

var usual = runtime.GOMAXPROCS(1)

// Usual is the number of Ps that the runtime has chosen, or the environment.
func Usual() int { return usual }
