package ps

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/node/segment"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// procDir is the directory in which the kernel describes processes.
const procDir = "/proc"

// clockTick is the unit of processor times in /proc; it is the same on all machines that
// Go supports.
const clockTick = 10 * time.Millisecond

// seesProcesses says that lookAtProcess works.
const seesProcesses = true

// lookAtProcess reads what the kernel reports about a process; ok is false if there is no such
// process.
func lookAtProcess(pid int) (p processInfo, ok bool) {
	stat, err := os.ReadFile(filepath.Join(procDir, strconv.Itoa(pid), "stat"))
	if err != nil {
		return p, false
	}
	// The line is: pid (name) state parent ... The name may contain any characters.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 13 {
		return p, false
	}
	p.parent, _ = strconv.Atoi(f[1])
	switch f[0] {
	case "Z", "X", "x":
		p.ended = true
	case "T", "t":
		p.stopped = true
	default:
		p.busy = computes(filepath.Join(procDir, strconv.Itoa(pid), "task"))
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	p.cpu = time.Duration(user+system) * clockTick
	return p, true
}

// computes reports whether a thread of those in a folder of /proc is on a core, waits for one, or for a disk. On a busy
// machine a thread that computes may get no core for a second, so that its processor time does not tell.
func computes(dir string) bool {
	tasks, _ := os.ReadDir(dir)
	return slices.ContainsFunc(tasks, func(task os.DirEntry) bool {
		stat, _ := os.ReadFile(filepath.Join(dir, task.Name(), "stat"))
		_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		return bytes.HasPrefix(state, []byte("R")) || bytes.HasPrefix(state, []byte("D"))
	})
}

// findJobs returns the jobs that this user's launchers run on this host now, the
// oldest first. It finds launchers by the notes that they hold: memory without
// a name, which only processes of the same user can open in /proc. Processes that end
// during the search do not count. Launchers in a container, which has other process
// ids, are not seen from outside. With a name only that job is returned. unread says
// which processes hold notes that cannot be read, and why.
func findJobs(name string) (jobs []*JobState, unread []string, err error) {
	dir, err := os.Open(procDir)
	if err != nil {
		return nil, nil, fmt.Errorf("finding jobs: %w", err)
	}
	defer dir.Close()
	entries, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, nil, fmt.Errorf("finding jobs: %w", err)
	}
	var notes []*os.File // of jobs
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry)
		if err != nil {
			continue
		}
		for _, f := range openNotes(pid) {
			defer f.Close()
			s, err := look(f, pid)
			switch {
			case s != nil && s.means(name):
				jobs, notes = append(jobs, s), append(notes, f)
			case err != nil && !errors.Is(err, shmfmt.ErrNoNotes):
				unread = append(unread, fmt.Sprintf("process %d: %v", pid, err))
			}
		}
	}
	suspect(jobs, notes)
	slices.SortFunc(jobs, func(a, b *JobState) int { return a.Started.Compare(b.Started) })
	return jobs, unread, nil
}

// means reports whether name selects the job; "" selects all jobs.
func (s *JobState) means(name string) bool {
	return strings.HasPrefix(s.Job, name) || fmt.Sprint(s.Launcher) == name
}

// openNotes returns the notes that a process of this user holds, which a launcher holds for each of its
// jobs.
func openNotes(pid int) (notes []*os.File) {
	dir := filepath.Join(procDir, strconv.Itoa(pid))
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return nil
	}
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return nil
	}
	for _, fd := range fds {
		path := filepath.Join(dir, "fd", fd.Name())
		if to, err := os.Readlink(path); err != nil || !strings.HasPrefix(to, "/memfd:"+segment.NotesName+" ") {
			continue
		}
		// The descriptor may be another file by now, such as a pipe: do not wait for it.
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() || slices.ContainsFunc(notes, func(n *os.File) bool {
			other, err := n.Stat()
			return err == nil && os.SameFile(info, other)
		}) {
			f.Close()
			continue
		}
		notes = append(notes, f)
	}
	return notes
}

// look reads the notes that process pid holds. It returns nil if they are not
// the notes of its own job (ranks hold them for a moment), or if the process has ended.
func look(f *os.File, pid int) (*JobState, error) {
	h, views, err := shmfmt.ReadNotes(f)
	if err != nil || h.Launcher != pid {
		return nil, err
	}
	s := newJobState(h, views, time.Now(), linesOf)
	if p, ok := lookAtProcess(pid); !ok || p.ended {
		return nil, nil
	}
	return s, nil
}
