//go:build unix

package launch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/sys"
)

// A symptom is what the Go runtime of a rank, in Go or in Halo's C library, writes to
// stderr before it ends the process because of a limit. The traces behind it name no
// limit, and nothing in the process can come before them; so the launcher explains them
// at the end.
type symptom int

const (
	noSymptom symptom = iota
	noThread
	noAddresses
)

// symptomOf is what a text of the runtime shows.
func symptomOf(text []byte) symptom {
	says := func(words string) bool { return bytes.Contains(text, []byte(words)) }
	switch {
	case says("failed to create new OS thread"), says("pthread_create failed"):
		return noThread
	case says("failed to reserve page summary memory"), says("runtime: cannot allocate memory"), says("runtime: out of memory"):
		return noAddresses
	}
	return noSymptom
}

// look remembers the first symptom in what a rank writes.
func (s *stream) look(text []byte) {
	if s.symptom == noSymptom && bytes.Contains(text, []byte("runtime")) {
		s.symptom = symptomOf(text)
	}
}

// shortage explains the failure of ranks by the symptoms in their output; "" if there are
// none. Called when all output has been carried.
func (j *job) shortage() string {
	for _, r := range j.ranks {
		s := r.streams[1]
		if s == nil || s.symptom == noSymptom || r.exitStatus() == 0 {
			continue
		}
		what := "did not get the address space that it needs"
		if s.symptom == noThread {
			what = "could not make a thread"
		}
		limits := "see ulimit -u, ulimit -v and pids.max of its control group there"
		if r.host.remote == nil {
			limits = ownLimits()
		}
		return fmt.Sprintf("the Go runtime of rank %d %s: %s", r.index, what, limits)
	}
	return ""
}

// ownLimits lists the limits of this process, which its children have, too.
func ownLimits() string {
	var parts []string
	if n, ok := sys.LimitOfAddresses(); ok {
		parts = append(parts, fmt.Sprintf("the address space of a process is limited to %d KiB (ulimit -v), Halo reserves some 2 GiB", n>>10))
	}
	if n, ok := sys.LimitOfGroup(); ok {
		parts = append(parts, fmt.Sprintf("the control group allows %d processes and threads (pids.max)", n))
	}
	if n, ok := sys.LimitOfUser(); ok {
		parts = append(parts, fmt.Sprintf("the user may have %d processes and threads (ulimit -u)", n))
	}
	if parts == nil {
		return "memory is short, or the system's number of threads"
	}
	return strings.Join(parts, "; ")
}
