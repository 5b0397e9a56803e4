//go:build unix

package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/sys"
)

// WardenName is argv[0] of a warden, so that ps shows it.
const WardenName = "halo-warden"

// The warden is a process that outlives a launcher that was killed, and cleans up after it.
// It sleeps on a pipe whose other end only the launcher has:
//
//	"+PID"  the process group of a rank was started
//	"-PID"  that rank has ended and was reaped; the number may be used again
//	"dPATH" a directory to be removed
//	"bPID"  heartbeat of the agent with that process id, every talk.BeatInterval after
//	        the first
//	"q"     the launcher has cleaned up itself
//
// At the end of the pipe without "q" the warden kills the process groups of the ranks, then,
// on Linux, all other processes with the job's name in their environment, and removes the
// directory. It kills an agent on another host that sends no heartbeat for longer than the launcher waits
// first: the agent is stopped or hangs, the launcher has marked its host as lost, and nobody
// else would end its ranks. A launcher may be stopped for any time, and sends no heartbeats.
//
// The kernel kills the ranks themselves sooner, by their parent-death signal. Both are
// necessary: the warden may be killed too, and grandchildren and programs that change their
// user do not get the signal.
type wardenPipe struct {
	pipe *os.File
	pid  int
}

// startWarden starts the warden of job id. It must run on the spawner's thread
// or any other: the warden does not die with its parent.
func startWarden(id string) (*wardenPipe, error) {
	self, err := sys.SelfPath()
	if err != nil {
		return nil, fmt.Errorf("finding the launcher's own program: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil { // no /dev: the warden writes nothing, so any descriptor that blocks nobody is suitable
		null, err = NoInput()
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	defer null.Close()
	pid, _, err := syscall.StartProcess(self, []string{WardenName, id}, &syscall.ProcAttr{
		Dir: "/",
		// Not the job's name. In tests GORACE makes the race detector exit without a delay.
		Env:   []string{"GOMAXPROCS=1", "GORACE=" + os.Getenv("GORACE")},
		Files: []uintptr{r.Fd(), null.Fd(), null.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("starting the warden: %w%s", err, cause(err))
	}
	return &wardenPipe{w, pid}, nil
}

func (w *wardenPipe) started(pid int)      { fmt.Fprintf(w.pipe, "+%d\n", pid) }
func (w *wardenPipe) ended(pid int)        { fmt.Fprintf(w.pipe, "-%d\n", pid) }
func (w *wardenPipe) directory(dir string) { fmt.Fprintf(w.pipe, "d%s\n", dir) }

// keep starts the heartbeats of this process.
func (w *wardenPipe) keep() {
	go func() {
		for {
			if _, err := fmt.Fprintf(w.pipe, "b%d\n", os.Getpid()); err != nil {
				return // retired
			}
			time.Sleep(talk.BeatInterval)
		}
	}()
}

// quit tells the warden that nothing is left to do.
func (w *wardenPipe) quit() {
	fmt.Fprintf(w.pipe, "q\n")
	w.pipe.Close()
}

// isWarden reports whether a process is the warden of some launcher.
func isWarden(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.HasPrefix(string(line), WardenName+"\x00")
}

// wardenTimeout is how long the warden looks for processes of the job.
const wardenTimeout = 2 * time.Second

// Warden is the main function of the warden process.
func Warden(id string, pipe io.Reader) {
	KeepThreads(threadsOfWarden)
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // sent to all processes of a job: the launcher decides what it means
	lines := make(chan string)
	go func() {
		defer close(lines) // an incomplete line is dropped
		for r := bufio.NewReader(pipe); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return // the launcher is gone
			}
			lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	groups := map[int]bool{}
	var dirs []string
	var life talk.Liveness
	var look <-chan time.Time
	agent := 0 // that sends heartbeats
	for over := false; !over; {
		select {
		case line, more := <-lines:
			pid := 0
			if len(line) > 1 {
				pid, _ = strconv.Atoi(line[1:])
			}
			switch {
			case !more:
				over = true
			case line == "q":
				return
			case strings.HasPrefix(line, "d"):
				dirs = append(dirs, line[1:])
			case pid <= 1:
			case line[0] == 'b':
				life.Beat()
				if look == nil {
					agent, look = pid, time.Tick(talk.BeatInterval)
				}
			case line[0] == '+':
				groups[pid] = true
			case line[0] == '-':
				delete(groups, pid)
			}
		case <-look:
			if life.Since() > life.Limit()+talk.BeatInterval { // longer than the launcher waits
				over = true
				if os.Getppid() == agent {
					syscall.Kill(agent, syscall.SIGKILL)
				}
			}
		}
	}
	for pid := range groups {
		syscall.Kill(-pid, syscall.SIGKILL)
	}
	// A process that is just being started is found by the second search.
	for end := time.Now().Add(wardenTimeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if sys.KillByEnv(plan.EnvJob+"="+id) == 0 {
			break
		}
	}
	for _, dir := range dirs {
		os.RemoveAll(dir)
	}
}
