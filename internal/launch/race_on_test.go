//go:build race && unix

package launch

// The launcher under test is built with the race detector, too.
const raceFlag = "-race"
