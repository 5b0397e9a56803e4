//go:build !race

package shmfmt

// raceBuild says that the race detector watches: it takes loads ahead for reads.
const raceBuild = false
