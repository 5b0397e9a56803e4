//go:build !linux

package tcp

func paths() map[string]maker { return map[string]maker{"streams": goroutines} }
