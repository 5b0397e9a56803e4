//go:build race

package testrun

// Race says that the race detector is on: everything takes ten times as long, and allocates.
const Race = true
