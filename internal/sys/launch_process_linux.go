package sys

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// DieWithParent makes a child die by SIGKILL when the thread that started it ends, for whatever reason.
// So the thread must not end before the child may.
func DieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// SharesBySession reports whether a child gets more of the cores in a session of its own. The kernel divides a core
// among sessions, and what a session gets among its processes (sched_autogroup in sched(7)). A process in the session of
// its user shares with the other ranks and all that was started from the same terminal what anybody's single process in
// another session has for itself.
//
// Niceness and policies count only within a session. Where this process, or its session, has other ones than
// the usual, its user has chosen how a child competes with others.
func SharesBySession() bool {
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL || a.Nice != 0 {
		return false
	}
	group, err := os.ReadFile("/proc/self/autogroup") // "/autogroup-N nice N"
	return err == nil && bytes.HasSuffix(bytes.TrimSpace(group), []byte(" nice 0"))
}

// Subreaper makes orphans among the descendants of this process its children,
// so that it can find and end all of them.
func Subreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// Adopted returns the orphans that are children of this process now, zombies included, and the processes
// that its first thread has started. The kernel makes the first thread the parent of orphans.
// A kernel without lists of children lets Adopted return all children.
//
// Adopted does not read the lists of other threads, since a lookup makes an entry of /proc for the thread.
// The kernel removes these entries while the threads end, and the process that waits for this one spins
// until all are removed. When all cores are in use, that takes a third of the cores' time.
func Adopted() []int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	if err != nil {
		return childrenByStat()
	}
	var pids []int
	for f := range bytes.FieldsSeq(text) {
		if pid, err := strconv.Atoi(string(f)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Suspend sends SIGTSTP to all processes of some process groups, and SIGSTOP to those that have not set an action for
// it. The kernel's own action, to stop, is left out in a session whose first process has its parent in another session.
func Suspend(groups []int) {
	all := proc.processes()
	if len(all) == 0 { // without /proc, and so without sessions of ranks
		for _, g := range groups {
			unix.Kill(-g, unix.SIGTSTP)
		}
	}
	for _, pid := range all {
		if f := proc.stat(pid); len(f) > 2 {
			if group, err := strconv.Atoi(string(f[2])); err == nil && slices.Contains(groups, group) {
				unix.Kill(pid, proc.stopSignal(pid))
			}
		}
	}
}

// stopSignal is SIGTSTP for a process that catches or ignores it, and else SIGSTOP.
func (d procDir) stopSignal(pid int) syscall.Signal {
	status, _ := d.file(pid, "status")
	for line := range bytes.Lines(status) {
		name, mask, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "SigIgn" && string(name) != "SigCgt" {
			continue
		}
		if bits, err := strconv.ParseUint(string(bytes.TrimSpace(mask)), 16, 64); err == nil && bits>>(unix.SIGTSTP-1)&1 == 1 {
			return unix.SIGTSTP
		}
	}
	return unix.SIGSTOP
}

// stat returns the fields of /proc/PID/stat behind the name, which may contain any character: state, parent, process group.
func (d procDir) stat(pid int) [][]byte {
	stat, _ := d.file(pid, "stat")
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}

// childrenByStat is for kernels without lists of children: it reads the parent of every process.
func childrenByStat() (pids []int) {
	me := []byte(strconv.Itoa(os.Getpid()))
	for _, pid := range proc.processes() {
		if f := proc.stat(pid); len(f) > 1 && bytes.Equal(f[1], me) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A procDir is a directory with a directory for each process, such as /proc.
type procDir string

const proc procDir = "/proc/"

// file returns the content of a file of a process.
func (d procDir) file(pid int, name string) ([]byte, error) {
	return os.ReadFile(string(d) + strconv.Itoa(pid) + "/" + name)
}

func (d procDir) processes() (pids []int) {
	dir, err := os.Open(string(d))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// KillByEnv sends SIGKILL to every other process that was started with the entry NAME=value in its
// environment, and returns how many there were. Processes in the middle of exec count too: their
// environment is not visible yet, and the next call finds it.
func KillByEnv(entry string) (n int) { return proc.killByEnv(entry) }

func (d procDir) killByEnv(entry string) (n int) {
	want := append([]byte{0}, entry...)
	want = append(want, 0)
	for _, pid := range d.processes() {
		if pid == os.Getpid() {
			continue
		}
		// The descriptor ensures that the process that was examined is the one that is killed.
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil && err != unix.ENOSYS {
			continue
		}
		env, err := d.file(pid, "environ")
		switch {
		case err != nil:
		case len(env) == 0:
			if d.amidExec(pid) {
				n++
			}
		case !bytes.Contains(slices.Concat([]byte{0}, env), want):
		case fd < 0: // before Linux 5.3
			unix.Kill(pid, unix.SIGKILL)
			n++
		case unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil:
			n++
		}
		unix.Close(fd)
	}
	return n
}

// amidExec reports whether a process without an environment is in the middle of exec, which has not
// filled its new memory yet: the process has no arguments either, is no thread of the kernel, and is not
// ending.
func (d procDir) amidExec(pid int) bool {
	line, err := d.file(pid, "cmdline")
	if err != nil || len(line) > 0 {
		return false
	}
	const kernelThread = 0x200000 // PF_KTHREAD
	state, flags := d.state(pid)
	return state != 0 && state != 'Z' && flags&(exiting|kernelThread) == 0
}

const exiting = 0x4 // PF_EXITING

// Exiting reports whether a process has begun to end, or has ended and waits to
// be reaped.
func Exiting(pid int) bool {
	state, flags := proc.state(pid)
	return state == 'Z' || flags&exiting != 0
}

// state returns the state of a process as a letter, 0 if there is no such process, and its flags.
func (d procDir) state(pid int) (state byte, flags uint64) {
	stat, _ := d.file(pid, "stat")
	// pid (name) state parent group session terminal foreground flags ...; the
	// name may contain any character
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return 0, 0
	}
	f := bytes.Fields(stat[i+1:])
	if len(f) < 7 {
		return 0, 0
	}
	flags, _ = strconv.ParseUint(string(f[6]), 10, 64)
	return f[0][0], flags
}

// SelfPath returns a path by which this process can start its own program again, even if the file was
// removed or replaced. Without /proc it is the path by which the program was started.
func SelfPath() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Lstat(self); err == nil {
		return self, nil
	}
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", fmt.Errorf("there is no %s: %w", self, err)
	}
	return filepath.Abs(path)
}
