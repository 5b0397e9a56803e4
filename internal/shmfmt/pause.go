//go:build (amd64 || arm64) && !race

package shmfmt

// Pause tells the processor that the caller polls a line that another core is about to write: see
// the design of the rings. It takes from a few to some hundred cycles, depending on the processor.
func Pause()
