//go:build !race

package histories_test

// raceBuild says that the race detector is on: everything takes ten times as long.
const raceBuild = false
