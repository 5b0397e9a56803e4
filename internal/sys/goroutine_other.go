//go:build !amd64 && !arm64

package sys

// Goroutine cannot be told here.
func Goroutine() uintptr { return 0 }
