// Package mpitest has no counterpart in C.
package mpitest

// Run needs a comment only.
func Run(any, int, any) {}

func Fabrics() {} // want docs "Fabrics is exported and has no comment"
