package sys

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait = 0
	futexWake = 1
)

// FutexWait sleeps until FutexWake on word, unless *word is no longer want, and
// at most for timeout if that is positive. The word may be in memory shared by
// several processes. It may return early.
func FutexWait(word *atomic.Uint32, want uint32, timeout time.Duration) {
	var ts *unix.Timespec
	if timeout > 0 {
		t := unix.NsecToTimespec(int64(timeout))
		ts = &t
	}
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(want), uintptr(unsafe.Pointer(ts)), 0, 0)
}

// FutexWake wakes at most n sleepers of FutexWait on word.
func FutexWake(word *atomic.Uint32, n int) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, uintptr(n), 0, 0, 0)
}

// Yield gives the core to another process that wants it, without telling the
// Go scheduler: some 0.2 us when nobody does.
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
