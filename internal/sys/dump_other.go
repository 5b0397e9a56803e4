//go:build !linux

package sys

// OmitReserved does nothing on this platform.
func OmitReserved() error { return nil }
