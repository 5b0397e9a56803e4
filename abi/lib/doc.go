//go:build !linux || !cgo

// Lib is the C library. It exists on Linux only, built with cgo.
package main

func main() {}
