//go:build !amd64 && !arm64

package sys

// Goroutine is not known on this platform.
func Goroutine() uintptr { return 0 }
