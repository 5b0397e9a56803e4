//go:build !race

package rma_test

const raceBuild = false
