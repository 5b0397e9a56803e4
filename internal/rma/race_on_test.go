//go:build race

package rma_test

// raceBuild says that the race detector watches, and that things take longer.
const raceBuild = true
