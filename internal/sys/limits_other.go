//go:build !linux

package sys

// LimitOfAddresses returns false: the limit is not looked up on this platform.
func LimitOfAddresses() (n uint64, ok bool) { return 0, false }

// LimitOfUser returns false: the limit is not looked up on this platform.
func LimitOfUser() (n uint64, ok bool) { return 0, false }

// LimitOfGroup returns false: this platform has no control groups of Linux.
func LimitOfGroup() (n uint64, ok bool) { return 0, false }
