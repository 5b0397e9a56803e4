package testrun

import "os"

// RaceOptions is the setting of GORACE for a process that a test starts, which may be built with the race detector:
// the options of this process, and that it does not sleep a second at its end for races of goroutines that are left.
// Tests find those (internal/leak).
func RaceOptions() string { return "GORACE=" + os.Getenv("GORACE") + " atexit_sleep_ms=0" }
