//go:build !race

package shmfmt

import "unsafe"

//go:noescape
func prefetchw(p unsafe.Pointer)
