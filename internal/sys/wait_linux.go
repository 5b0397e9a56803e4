package sys

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait    = 0
	futexWake    = 1
	futexPrivate = 128 // the word is this process's own: it is found without a look at its page
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

// FutexSleep is FutexWait on a word of this process alone, and FutexRouse its FutexWake.
func FutexSleep(word *atomic.Uint32, want uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait|futexPrivate, uintptr(want), 0, 0, 0)
}

// FutexRouse wakes at most n sleepers of FutexSleep on word.
func FutexRouse(word *atomic.Uint32, n int) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake|futexPrivate, uintptr(n), 0, 0, 0)
}

// Yield gives the core to another process that wants it, without telling the
// Go scheduler: some 0.2 us when nobody does.
//
// It is not inlined. Goroutines that wait in a loop of it are inside the system call at
// nearly all times, where a signal cannot preempt them. The head of this function, which
// looks whether its goroutine is to be preempted, is where they can be; without it a loop
// keeps its P for ever, and who would end it may never get one.
//
//go:noinline
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
