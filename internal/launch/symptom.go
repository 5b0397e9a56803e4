//go:build unix

package launch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/sys"
)

// A symptom is a text that the Go runtime of a rank, in Go or in Halo's C library, writes
// to stderr before it ends the process because of a limit. The traces after the text do not
// name the limit, and no code of the process can run before them. Therefore the launcher
// explains them at the end.
type symptom int

const (
	noSymptom symptom = iota
	noThread
	noAddresses
)

// symptomOf returns the symptom in a text of the runtime.
func symptomOf(text []byte) symptom {
	says := func(words string) bool { return bytes.Contains(text, []byte(words)) }
	switch {
	case says("runtime: failed to create new OS thread"), says("runtime/cgo: pthread_create failed"):
		return noThread
	case says("fatal error: failed to reserve page summary memory"), says("runtime: cannot allocate memory"), says("runtime: out of memory"):
		return noAddresses
	}
	return noSymptom
}

// longestSymptom is the length of the longest text that symptomOf looks for, in bytes.
const longestSymptom = len("fatal error: failed to reserve page summary memory")

// look remembers the first symptom in what a rank writes. The runtime writes a line in several
// pieces, of which the launcher may read one at a time, so the end of each text is looked at again
// with the next one.
func (s *stream) look(text []byte) {
	if s.symptom != noSymptom {
		return
	}
	begin := text[:min(len(text), longestSymptom)]
	s.symptom = symptomOf(append(s.seen, begin...))
	if s.symptom == noSymptom {
		s.symptom = symptomOf(text)
	}
	end := text[max(0, len(text)-longestSymptom):]
	s.seen = append(s.seen, end...)
	s.seen = append(s.seen[:0], s.seen[max(0, len(s.seen)-longestSymptom):]...)
}

// shortage explains the failure of ranks by the symptoms in their output; "" if there are none. If
// the job's reason blames a rank with a symptom, the explanation replaces the advice in the reason,
// and shortage returns "". It is called when all output has been copied.
func (j *job) shortage() string {
	if j.blamed != nil {
		if cause := shortageOf(j.blamed); cause != "" {
			j.reason = strings.Replace(j.reason, "("+j.advice+")", "(its Go runtime "+cause+")", 1)
			return ""
		}
	}
	for _, r := range j.ranks {
		if cause := shortageOf(r); cause != "" && r.exitStatus() != 0 {
			return fmt.Sprintf("the Go runtime of rank %d %s", r.index, cause)
		}
	}
	return ""
}

// shortageOf describes the resource that r lacked according to its output, and why; "" if the output
// has no symptom.
func shortageOf(r *rank) string {
	s := r.streams[1]
	if s == nil || s.symptom == noSymptom {
		return ""
	}
	switch {
	case s.symptom == noThread && r.host.remote != nil:
		return "could not make a thread: see ulimit -u, ulimit -v and pids.max of its control group there"
	case s.symptom == noThread:
		return "could not make a thread: " + agent.LimitsOfThreads()
	case r.host.remote != nil:
		return "did not get the address space that it needs: see ulimit -v there"
	}
	return "did not get the address space that it needs: " + limitOfAddresses()
}

// limitOfAddresses explains why a rank gets no address space. The rank has the limit of this
// process, unless a wrapper of the program lowers it.
func limitOfAddresses() string {
	if n, ok := sys.LimitOfAddresses(); ok {
		return fmt.Sprintf("a process may have %d KiB (ulimit -v), Halo reserves some 2 GiB", n>>10)
	}
	return "Halo reserves some 2 GiB; what starts the program may allow less (ulimit -v), or memory is short"
}
