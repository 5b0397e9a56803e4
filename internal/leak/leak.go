// Package leak looks for what tests leave behind in their process: goroutines,
// descriptors, and mappings of Halo's shared memory.
//
// A package whose tests acquire such things says
//
//	func TestMain(m *testing.M) { leak.Main(m) }
//
// The trap: things that a test ends in the background may take a moment, so the
// package looks again for some seconds before it reports a leak.
package leak

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// timeout is how long the search waits for goroutines and descriptors that are about to end: milliseconds on a quiet
// machine.
const timeout = 2 * time.Minute

// Main runs the tests of a package and ends the process: with status 1 if they
// pass and leave something behind.
func Main(tests interface{ Run() int }) {
	before := Take()
	status := tests.Run()
	if status == 0 && !fuzzing() {
		if left := before.Left(); left != "" {
			fmt.Fprintln(os.Stderr, "leak:", left)
			status = 1
		}
	}
	os.Exit(status)
}

// fuzzing reports whether this process works for the fuzzing engine, which keeps the resources that it uses.
func fuzzing() bool {
	for _, name := range []string{"test.fuzz", "test.fuzzworker"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" && f.Value.String() != "false" {
			return true
		}
	}
	return false
}

// Inventory is what the process holds at a moment.
type Inventory struct {
	goroutines  int
	descriptors map[string]string // the files that are open, by descriptor; empty where the system does not tell
	mappings    int               // of shared memory
}

// Take takes the inventory.
func Take() Inventory {
	return Inventory{runtime.NumGoroutine(), descriptors(), mappings()}
}

func descriptors() map[string]string {
	all := map[string]string{}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			all[e.Name()] = to
		}
	}
	return all
}

func mappings() int {
	text, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(text), "memfd:halo-")
}

// Left returns what the process holds beyond the inventory, "" if nothing. It waits for things that are
// about to end.
func (before Inventory) Left() string {
	for end := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		left := before.compare(Take())
		if left == "" || time.Now().After(end) {
			return left
		}
	}
}

func (before Inventory) compare(now Inventory) string {
	if now.goroutines > before.goroutines {
		buf := make([]byte, 1<<20)
		return fmt.Sprintf("%d goroutines, were %d\n%s", now.goroutines, before.goroutines, buf[:runtime.Stack(buf, true)])
	}
	var fresh []string
	for n, what := range now.descriptors {
		if before.descriptors[n] != what && !anonymous(what) && !strings.HasPrefix(what, "/proc/") {
			fresh = append(fresh, n+" -> "+what)
		}
	}
	if len(fresh) > 0 {
		return fmt.Sprintf("descriptors: %s", strings.Join(fresh, ", "))
	}
	if n, were := now.anonymous(), before.anonymous(); n > were+runtimeKeeps {
		return fmt.Sprintf("%d epoll sets and event descriptors, were %d", n, were)
	}
	if now.mappings > before.mappings {
		return fmt.Sprintf("%d mappings of shared memory, were %d", now.mappings, before.mappings)
	}
	return ""
}

// runtimeKeeps is how many anonymous descriptors the Go runtime opens for itself
// at first use, and keeps: its epoll set and its event descriptor.
const runtimeKeeps = 2

// anonymous reports whether a descriptor is an epoll set or an event descriptor, whose
// names are all alike: they are compared by their count.
func anonymous(what string) bool {
	return strings.Contains(what, "eventpoll") || strings.Contains(what, "eventfd")
}

func (i Inventory) anonymous() int {
	n := 0
	for _, what := range i.descriptors {
		if anonymous(what) {
			n++
		}
	}
	return n
}
