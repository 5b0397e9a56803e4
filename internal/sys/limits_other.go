//go:build !linux

package sys

// LimitOfAddresses is not known on this platform.
func LimitOfAddresses() (n uint64, ok bool) { return 0, false }

// LimitOfUser is not known on this platform.
func LimitOfUser() (n uint64, ok bool) { return 0, false }

// LimitOfGroup is not known on this platform.
func LimitOfGroup() (n uint64, ok bool) { return 0, false }
