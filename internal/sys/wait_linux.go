package sys

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait    = 0
	futexWake    = 1
	futexPrivate = 128 // only this process uses the word: the kernel finds it without its page
)

// FutexWait sleeps until FutexWake on word, unless *word is no longer want. The
// word may be in memory shared by several processes. It may return early.
func FutexWait(word *atomic.Uint32, want uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(want), 0, 0, 0)
}

// FutexWake wakes at most n sleepers of FutexWait on word.
func FutexWake(word *atomic.Uint32, n int) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, uintptr(n), 0, 0, 0)
}

// FutexWaitPrivate is FutexWait on a word that only this process uses, and FutexWakePrivate its
// FutexWake.
func FutexWaitPrivate(word *atomic.Uint32, want uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait|futexPrivate, uintptr(want), 0, 0, 0)
}

// FutexWakePrivate wakes at most n sleepers of FutexWaitPrivate on word.
func FutexWakePrivate(word *atomic.Uint32, n int) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake|futexPrivate, uintptr(n), 0, 0, 0)
}

// Yield yields the core to other processes, without the Go scheduler: some 0.2 us when no
// other process is runnable.
//
// It must not be inlined. A goroutine that waits in a loop of Yield is inside the system call
// nearly all the time, where a signal cannot preempt it. The prologue of this function checks
// for preemption. Without it the loop keeps its P for ever, and the goroutine that would end
// the loop may never get one.
//
//go:noinline
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
