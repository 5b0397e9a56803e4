// Package oneplace sets GOMAXPROCS to 1 from the start of the program on. The C library imports
// it and runs on one P until the process has joined its job: each P that runs something has
// memory caches of its own, about 60 KiB in all, and the initialisation of the packages and
// joining are sequential. Later the process gets the Ps that it needs: see LockedThreads in
// package mpi.
//
// The package imports nothing but runtime, so that it is initialised among the first packages.
package oneplace

import "runtime"

var usual = runtime.GOMAXPROCS(1)

// Usual returns the number of Ps that the runtime or the environment has chosen.
func Usual() int { return usual }
