//go:build (amd64 || arm64) && !race

package shmfmt

// Pause is to be called between two looks at a line that another core is about to
// write: see the design of the rings. It takes from a few to some hundred cycles,
// depending on the processor.
func Pause()
