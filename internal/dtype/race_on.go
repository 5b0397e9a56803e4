//go:build race

package dtype

const raceBuild = true
