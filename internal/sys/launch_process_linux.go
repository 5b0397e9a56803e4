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

// DieWithParent makes a child die by SIGKILL when the OS thread that started it
// ends, however that happens. The starter must therefore stay on a thread that
// lives as long as the child may.
func DieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// Subreaper makes orphans among the descendants of this process its children,
// so that it can find and end all of them.
func Subreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// Children returns the processes whose parent is this one, zombies included.
func Children() []int {
	const tasksDir = "/proc/self/task/"
	if _, err := os.Stat(tasksDir + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		return childrenByStat()
	}
	tasks, _ := os.ReadDir(tasksDir)
	var pids []int
	for _, t := range tasks {
		// Each thread lists the children it started; orphans stand with one of them.
		text, _ := os.ReadFile(tasksDir + t.Name() + "/children")
		for f := range bytes.FieldsSeq(text) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// childrenByStat is for kernels without the list of children: it reads the
// parent of every process.
func childrenByStat() (pids []int) {
	me := []byte(strconv.Itoa(os.Getpid()))
	for _, pid := range processes() {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		// pid (name) state parent ...; the name may hold anything
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 {
			if f := bytes.Fields(stat[i+1:]); len(f) > 1 && bytes.Equal(f[1], me) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func processes() (pids []int) {
	dir, err := os.Open("/proc")
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

// KillByEnv sends SIGKILL to every other process that was started with the entry
// NAME=value in its environment, and returns how many there were.
func KillByEnv(entry string) (n int) {
	want := append([]byte{0}, entry...)
	want = append(want, 0)
	for _, pid := range processes() {
		if pid == os.Getpid() {
			continue
		}
		// The descriptor makes sure that the process that is looked at is the
		// one that is killed.
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil && err != unix.ENOSYS {
			continue
		}
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		switch {
		case err != nil || !bytes.Contains(slices.Concat([]byte{0}, env), want):
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

// Exiting reports whether a process has begun to end, or has ended and waits to
// be reaped.
func Exiting(pid int) bool {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	// pid (name) state parent group session terminal foreground flags ...; the
	// name may hold anything
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return false
	}
	f := bytes.Fields(stat[i+1:])
	if len(f) < 7 {
		return false
	}
	const exiting = 0x4 // PF_EXITING
	flags, _ := strconv.ParseUint(string(f[6]), 10, 64)
	return f[0][0] == 'Z' || flags&exiting != 0
}

// AllowedCPUs returns the numbers of the CPUs that this thread may use.
func AllowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var cpus []int
	for cpu := range len(set) * strconv.IntSize {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// BindThread lets the calling OS thread, and the processes it starts from now
// on, use these CPUs only.
func BindThread(cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return unix.SchedSetaffinity(0, &set)
}

// SelfPath is a path by which this process can start its own program again,
// even if the file has been removed or replaced; where there is no /proc it is the
// path by which it was started.
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
