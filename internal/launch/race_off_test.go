//go:build !race && unix

package launch

const raceFlag = "-race=false"
