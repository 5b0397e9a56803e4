//go:build !race

package mem_test

// raceBuild says that the race detector is on: bytes are then moved by loops in Go, through
// which the compiler takes scratch memory to escape.
const raceBuild = false
