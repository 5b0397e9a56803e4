//go:build linux

package run

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// sanitizer is a tool that checks memory accesses while the programs run: HALO_SANITIZE selects one of
// those below. docs/testing.md says what each detects; make sanitize runs all.
type sanitizer struct {
	install []string            // additional arguments of make install
	env     []string            // additional environment variables for make install and the programs
	flags   []string            // additional compiler flags of all programs
	prefix  []string            // the command that starts programs
	gentle  map[string][]string // other arguments for programs that would take too long
}

var sanitizers = map[string]sanitizer{
	"": {},
	// Go's code is instrumented, too, and knows the memory that C has allocated.
	"address": {
		install: []string{"BUILDFLAGS=-asan"},
		env:     []string{"UBSAN_OPTIONS=print_stacktrace=1"},
		flags:   []string{"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"},
		gentle:  map[string][]string{"handles_many": {"10000"}},
	},
	"undefined": {
		env: []string{
			"CGO_CFLAGS=-g -O2 -fsanitize=undefined -fno-sanitize-recover=all", "CGO_LDFLAGS=-g -O2 -fsanitize=undefined",
			"UBSAN_OPTIONS=print_stacktrace=1",
		},
		flags: []string{"-g", "-fsanitize=undefined", "-fno-sanitize-recover=all"},
	},
	// With this tag Go tells valgrind about its heap and stacks, but not that it writes below the
	// stack when it interrupts a goroutine. Valgrind considers values from Go in C undefined, does not
	// understand Go's line tables for inlined calls, and takes minutes to search Go's heap for leaks.
	"valgrind": {
		install: []string{"BUILDFLAGS=-tags valgrind"},
		env:     []string{"GODEBUG=asyncpreemptoff=1"},
		flags:   []string{"-g"},
		prefix:  []string{"valgrind", "-q", "--undef-value-errors=no", "--read-inline-info=no", "--leak-check=no", "--error-exitcode=9"},
		gentle: map[string][]string{
			"handles_many": {"300"}, "fast_random": {"7", "50"}, "fast_mixed": {"10"}, "fast_long": {"7", "30"}, "fast_litmus": {"20"}, "coll_short": {"7", "50"},
			"message_random": {"7", "50"}, "message_receives": {"7", "30"}, "message_early": {"7", "30"}, "message_threads": {"50"},
			"first_calls":  {"1000000"}, // valgrind runs one thread at a time
			"large_counts": {"short"},
		},
	},
}

func sanitizing() sanitizer { return sanitizers[os.Getenv("HALO_SANITIZE")] }

// arguments returns the arguments of a program, or the gentle ones.
func (s sanitizer) arguments(e entry) []string {
	if a, ok := s.gentle[e.name]; ok {
		return a
	}
	return e.args
}

// hang is the time that a program may take with a sanitizer on the slowest machine.
const hang = 10 * time.Minute

// context returns a context that ends when a program hangs. Its processes are not idle under a sanitizer that looks
// for threads to run again and again.
func (s sanitizer) context(t *testing.T) (context.Context, context.CancelFunc) {
	if s.flags != nil {
		return context.WithTimeout(t.Context(), hang)
	}
	return testrun.Context(t.Context())
}

// inTime fails a test that might not end within the timeout of go test, which ends all tests
// and does not report the programs that have run.
func (s sanitizer) inTime(t *testing.T) {
	t.Helper()
	if end, ok := t.Deadline(); ok && s.flags != nil && time.Until(end) < hang {
		t.Fatalf("not run: %v are left of the time, it may take %v", time.Until(end).Round(time.Second), hang)
	}
}

// words returns a command preceded by the tool that starts it.
func (s sanitizer) words(command ...string) []string {
	return append(slices.Clone(s.prefix), command...)
}
