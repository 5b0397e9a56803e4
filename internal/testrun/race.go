package testrun

// RaceOptions is the setting of GORACE for a process that a test starts, which may be built with the race detector:
// it does not sleep a second at its end for races of goroutines that are left, since tests find those
// (internal/leak). Its shadow memory is in small pages, of which a process that does little needs few.
const RaceOptions = "GORACE=atexit_sleep_ms=0"
