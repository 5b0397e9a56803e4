//go:build !linux

package sys

// OmitReserved does nothing: see Linux.
func OmitReserved() error { return nil }
