package sys

import (
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AllowedCPUs returns the numbers of the CPUs that this thread may use.
func AllowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	return members(&set), nil
}

func members(set *unix.CPUSet) []int {
	var cpus []int
	for cpu := range len(set) * strconv.IntSize {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// BindThread restricts the calling thread, and the processes that it starts from now on, to these
// CPUs.
func BindThread(cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return unix.SchedSetaffinity(0, &set)
}

// CurrentCPU returns the number of the CPU that the calling thread is on, or -1 if it is not known.
func CurrentCPU() int {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// MoveThread moves the calling thread to the CPU that choose picks from those that the thread may use,
// unless choose returns -1. The thread may use the same CPUs afterwards as before.
func MoveThread(choose func(allowed []int) int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if unix.SchedGetaffinity(0, &before) != nil {
		return
	}
	cpu := choose(members(&before))
	if cpu < 0 {
		return
	}
	if BindThread([]int{cpu}) == nil {
		unix.SchedSetaffinity(0, &before)
	}
}
