//go:build !race

package launch

const raceFlag = "-race=false"
