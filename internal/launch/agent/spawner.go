//go:build unix

package agent

import (
	"os"
	"runtime"
	"slices"
	"syscall"

	"github.com/halo-mpi/halo/internal/sys"
)

// A spawner starts processes from one OS thread that lives until close. The
// kernel ties their parent-death signal to that thread, and they inherit the
// CPUs it may use at that moment, before exec, so that the Go runtime in them
// counts the right ones. (The runtime never clones a locked thread, so no other
// thread of the launcher inherits them.)
type spawner struct {
	requests chan func()
	cpus     []int // of the launcher
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func())}
	ready := make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		s.cpus, _ = sys.AllowedCPUs()
		close(ready)
		for f := range s.requests {
			f()
		}
	}()
	<-ready
	return s
}

// close ends the thread; the kernel then kills every process that is left.
func (s *spawner) close() { close(s.requests) }

// do runs f on the thread.
func (s *spawner) do(f func()) {
	done := make(chan struct{})
	s.requests <- func() {
		f()
		close(done)
	}
	<-done
}

// Child describes a process to start.
type Child struct {
	File  string
	Argv  []string
	Env   []string
	dir   string
	cpus  []int
	Files []*os.File // descriptors 0, 1, ...
	apart bool       // in a session of its own, where that matters
}

// start starts c in a process group of its own. It must be called on the thread.
func (s *spawner) start(c *Child) (pid int, err error) {
	attr := &syscall.ProcAttr{Dir: c.dir, Env: c.Env, Sys: sys.OwnGroup()}
	if c.apart && sys.SharesBySession() {
		attr.Sys = &syscall.SysProcAttr{Setsid: true}
	}
	for _, f := range c.Files {
		attr.Files = append(attr.Files, f.Fd())
	}
	sys.DieWithParent(attr.Sys)
	if c.cpus != nil && !slices.Equal(c.cpus, s.cpus) {
		if err := sys.BindThread(c.cpus); err != nil {
			return 0, err
		}
		defer sys.BindThread(s.cpus)
	}
	pid, _, err = syscall.StartProcess(c.File, c.Argv, attr)
	return pid, err
}
