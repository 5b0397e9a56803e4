//go:build race

package dtype

const raceEnabled = true
