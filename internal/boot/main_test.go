package boot

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain expects that tests leave no goroutine and no descriptor behind.
func TestMain(m *testing.M) {
	runtime.GC()
	goroutines, files := runtime.NumGoroutine(), descriptors()
	code := m.Run()
	if f := flag.Lookup("test.fuzz"); f != nil && f.Value.String() != "" {
		os.Exit(code) // the fuzzing engine keeps what it uses
	}
	var g, f int
	for range 200 { // what was told to end may take a moment
		runtime.GC() // closes files of which a test only dropped the reference
		if g, f = runtime.NumGoroutine(), descriptors(); g <= goroutines && f <= files+pollerFiles {
			os.Exit(code)
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "leak: %d goroutines and %d descriptors, at the start it was %d and %d\n", g, f, goroutines, files)
	os.Exit(1)
}

// pollerFiles is what the Go runtime opens for itself at the first wait on a
// descriptor, and keeps.
const pollerFiles = 2

// descriptors counts open ones, where that can be seen.
func descriptors() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}
