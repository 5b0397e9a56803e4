//go:build !linux || !cgo

// Lib is the C library, which there is on Linux, built with cgo.
package main

func main() {}
