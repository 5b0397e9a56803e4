//go:build !amd64 && !arm64

package sys

// GrowStack does nothing on this platform.
func GrowStack() {}
