//go:build !race

package tcp

// raceBuild says that the race detector is on: everything takes ten times as long.
const raceBuild = false
