//go:build unix

package launch

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/sys"
)

// stampForm is what -timestamp-output writes before a line.
const stampForm = "15:04:05.000 "

// prefix is what is written before each line of a stream.
func (s *stream) prefix() string {
	if s.stamp {
		return time.Now().Format(stampForm) + s.tag
	}
	return s.tag
}

// logName is the file for an output of r: in pattern %r stands for the rank, with the job before it if that is a
// spawned one, %h for the host, and %% for a percent sign.
func (j *job) logName(pattern string, r *rank) string {
	name := strconv.Itoa(r.index)
	if j.parent != nil {
		name = j.number() + "." + name
	}
	return strings.NewReplacer("%%", "%", "%r", name, "%h", r.host.name).Replace(pattern)
}

// sinkFor returns where an output of r goes: a file of -output-filename and the like, or the launcher's output.
func (j *job) sinkFor(r *rank, which int) *sink {
	pattern := []string{j.spec.OutFile, j.spec.ErrFile}[which]
	if pattern == "" {
		return []*sink{j.stdout, j.stderr}[which]
	}
	name := j.logName(pattern, r)
	if k := j.logs[name]; k != nil {
		return k
	}
	file, err := os.Create(name)
	if err != nil {
		j.end(exit.Launcher, "the file for the output of rank %d cannot be made: %v", r.index, err)
		return []*sink{j.stdout, j.stderr}[which]
	}
	if j.logs == nil {
		j.logs = map[string]*sink{}
	}
	j.logs[name] = &sink{file: file, onBroken: func(err error) { go j.post(func() { j.outputBroken(err) }) }}
	return j.logs[name]
}

// closeLogs closes the files of outputs. It returns the first error of a write or a close, nil if there is none.
func (f *family) closeLogs() (first error) {
	for _, k := range f.logs {
		first = cmp.Or(first, k.brokenBy(), k.file.Close())
	}
	return first
}

// exits says how the ranks of the job have ended, for -print-all-exitcodes.
func (j *job) exits() string {
	if !j.spec.PrintExits {
		return ""
	}
	by := map[syscall.WaitStatus][]int{}
	var kinds []syscall.WaitStatus
	for _, r := range j.ranks {
		if !r.ended || r.pid == 0 {
			continue
		}
		if by[r.status] == nil {
			kinds = append(kinds, r.status)
		}
		by[r.status] = append(by[r.status], r.index)
	}
	slices.Sort(kinds)
	var parts []string
	for _, s := range kinds {
		how := strconv.Itoa(s.ExitStatus())
		if s.Signaled() {
			how = sys.SignalName(s.Signal())
		}
		parts = append(parts, fmt.Sprintf("%s: %s", wording.Numbered("rank", by[s]), how))
	}
	return "exit codes: " + strings.Join(parts, "; ")
}
