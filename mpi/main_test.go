package mpi_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain runs the tests, or, where the environment says so, one of the
// programs that need a process of their own (program_test.go). Afterwards it
// looks for what the ranks may have left behind in this process.
func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		runProgram(name)
		return
	}
	flag.Parse()
	before := takeInventory()
	status := m.Run()
	if status == 0 {
		if left := before.leaks(); left != "" {
			fmt.Fprintln(os.Stderr, left)
			status = 1
		}
	}
	os.Exit(status)
}

// inventory is what a process holds: goroutines, descriptors and mappings of
// shared memory.
type inventory struct {
	goroutines  int
	descriptors map[string]string
	mappings    int
}

func takeInventory() inventory {
	return inventory{runtime.NumGoroutine(), descriptors(), mappings()}
}

// descriptors lists what the open ones are, by number; nil where the system
// does not tell.
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

// mappings counts those of Halo's shared memory.
func mappings() int {
	text, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(text), "memfd:halo-")
}

// leaks tells what there is more than before; what is about to end is waited for.
func (before inventory) leaks() string {
	var why string
	for range 500 {
		if why = before.compare(); why == "" {
			return ""
		}
		time.Sleep(10 * time.Millisecond)
	}
	return why
}

func (before inventory) compare() string {
	now := takeInventory()
	if now.goroutines > before.goroutines {
		buf := make([]byte, 1<<20)
		return fmt.Sprintf("leaked goroutines: %d, were %d\n%s", now.goroutines, before.goroutines, buf[:runtime.Stack(buf, true)])
	}
	var fresh []string
	for n, what := range now.descriptors {
		// The runtime opens its own epoll set and event descriptor at first use.
		if before.descriptors[n] != what && !strings.Contains(what, "eventpoll") && !strings.Contains(what, "eventfd") && !strings.HasPrefix(what, "/proc/") {
			fresh = append(fresh, n+" -> "+what)
		}
	}
	if len(fresh) > 0 {
		return fmt.Sprintf("leaked descriptors: %s", strings.Join(fresh, ", "))
	}
	if polls, were := anonymous(now), anonymous(before); polls > were+2 {
		return fmt.Sprintf("leaked epoll sets or event descriptors: %d, were %d", polls, were)
	}
	if now.mappings > before.mappings {
		return fmt.Sprintf("leaked mappings of shared memory: %d, were %d", now.mappings, before.mappings)
	}
	return ""
}

// anonymous counts epoll sets and event descriptors.
func anonymous(i inventory) int {
	n := 0
	for _, what := range i.descriptors {
		if strings.Contains(what, "eventpoll") || strings.Contains(what, "eventfd") {
			n++
		}
	}
	return n
}
