package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// A stranger is this binary, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == strangerArg {
		beStranger(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// The program prints a line for everything that it measures, and leaves no process behind. What it measures is up to the machine.
func TestAllLinesArePrinted(t *testing.T) {
	var out strings.Builder
	err := report(&out, true)
	if runtime.GOOS != "linux" {
		if err == nil {
			t.Error("threads are bound to cores on a system that cannot")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Linux", "microseconds", "a look at the clock", "sched_yield, nobody", "core idle for 0.1 ms", "core idle for 2 ms", "the call that wakes",
		"off the core", "on it for", "sched_yield after", "sleeps nearly always", "as long as it sleeps", "five times as long",
		"on the same core", "to an idle core", "256 KiB there", "all of it took",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line has %q:\n%s", want, out.String())
		}
	}
}
