//go:build !linux

package tcp

func makers() map[string]maker { return map[string]maker{"streams": goroutines} }
