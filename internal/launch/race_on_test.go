//go:build race

package launch

// The launcher under test is built with the race detector, too.
const raceFlag = "-race"
