//go:build linux

package run

import (
	"os"
	"slices"
	"testing"
	"time"
)

// sanitizer is a tool that watches memory while the programs run: HALO_SANITIZE names one of
// the below. docs/testing.md says what each can see, make sanitize runs all.
type sanitizer struct {
	install []string            // more arguments of make install
	env     []string            // more of the environment, when it is installed and when programs run
	flags   []string            // more flags of all programs
	prefix  []string            // what programs are started by
	gentle  map[string][]string // arguments of programs that would take too long
}

var sanitizers = map[string]sanitizer{
	"": {},
	// Go's own code is instrumented, too: it takes what C has allocated for what it is.
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
	// With this tag Go tells valgrind what its heap and stacks are; that it writes below the
	// stack when it interrupts a goroutine it does not. C's values that Go has made are
	// undefined to valgrind, it does not know the form of Go's lines of inlined calls, and to
	// look for leaks in Go's heap it takes minutes.
	"valgrind": {
		install: []string{"BUILDFLAGS=-tags valgrind"},
		env:     []string{"GODEBUG=asyncpreemptoff=1"},
		flags:   []string{"-g"},
		prefix:  []string{"valgrind", "-q", "--undef-value-errors=no", "--read-inline-info=no", "--leak-check=no", "--error-exitcode=9"},
		gentle: map[string][]string{
			"handles_many": {"300"}, "fast_random": {"7", "50"}, "fast_mixed": {"10"}, "fast_long": {"7", "30"}, "fast_litmus": {"20"}, "coll_short": {"7", "50"},
			"first_calls": {"1000000"}, // its threads take turns at one core
		},
	},
}

func sanitizing() sanitizer { return sanitizers[os.Getenv("HALO_SANITIZE")] }

// arguments are those of a program, or the gentle ones.
func (s sanitizer) arguments(e entry) []string {
	if a, ok := s.gentle[e.name]; ok {
		return a
	}
	return e.args
}

// hang is how long a program may take, on the slowest machine.
func (s sanitizer) hang() time.Duration {
	if s.flags != nil {
		return 10 * time.Minute
	}
	return 3 * time.Minute
}

// inTime fails a test that might not end within the timeout of go test, which ends all tests
// and does not report the programs that have run.
func (s sanitizer) inTime(t *testing.T) {
	t.Helper()
	if end, ok := t.Deadline(); ok && s.flags != nil && time.Until(end) < s.hang() {
		t.Fatalf("not run: %v are left of the time, it may take %v", time.Until(end).Round(time.Second), s.hang())
	}
}

// words are a command with the tool that starts it.
func (s sanitizer) words(command ...string) []string {
	return append(slices.Clone(s.prefix), command...)
}
