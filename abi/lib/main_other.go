//go:build !linux || !cgo

package main

func main() {}
