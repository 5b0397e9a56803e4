//go:build !(amd64 || arm64) || race

package shmfmt

// Pause does nothing: this build has no such instruction.
func Pause() {}
