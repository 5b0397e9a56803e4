//go:build linux && cgo

package main

/*
#cgo CFLAGS: -O2 -std=gnu11 -Wall -fno-strict-aliasing
#cgo LDFLAGS: -Wl,-wrap=pthread_create
#include <stdlib.h>
#include <string.h>
#include "call.h"
#include "environment.h"
#include "jump.h"
#include "monitor.h"
#include "thread.h"
#include "valgrind.h"
#include "watch.h"
#include "wild.h"
#include "word.h"
*/
import "C"

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/halo-mpi/halo/abi/bind"
	"github.com/halo-mpi/halo/abi/oneplace"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

var onValgrind = C.halo_on_valgrind() != 0

var lib = bind.New(bind.Hooks{
	Malloc: malloc, Invoke: invoke, Lend: lend(), Return: free, Thread: thread, BecomeMain: becomeMain, IsMain: isMain,
	Caller: caller, Fast: newFast(), Fault: fault, EndByFault: endByFault,
	Leavers: (*atomic.Uint32)(unsafe.Pointer(&C.halo_leavers)), Leave: leave,
	Variable: variable, Places: oneplace.Usual(), Several: func() { C.halo_monitor_of_several() },
	Watchdog: watchdog,
})

// The first argument of the exported functions is the frame of the calling C function, for
// debuggers: see enter.h. cgo stores it at the beginning of the arguments, where abi/unwind expects
// it.

// haloRun runs the procedure of a symbol.
//
//export haloRun
func haloRun(_ unsafe.Pointer, number, large C.int, words unsafe.Pointer) C.int {
	return C.int(lib.CallIn(op.Env(large>>8), int(number), large&1 != 0, words))
}

// haloAwait waits for a collective that C has begun: see bind.Lib.Await.
//
//export haloAwait
func haloAwait(_ unsafe.Pointer, comm C.uintptr_t, word unsafe.Pointer, n C.uint64_t) C.int {
	return C.int(lib.Await(uintptr(comm), (*atomic.Uint64)(word), uint64(n)))
}

// haloDisagreement finds the error of members that disagree: see bind.Lib.Disagreement.
//
//export haloDisagreement
func haloDisagreement(_ unsafe.Pointer, comm C.uintptr_t, last C.int) C.int {
	return C.int(lib.Disagreement(uintptr(comm), last != 0))
}

// haloRing wakes the sleeping members of a communicator.
//
//export haloRing
func haloRing(_ unsafe.Pointer, comm C.uintptr_t) { lib.Ring(uintptr(comm)) }

// haloWake wakes a process of the node: see bind.Lib.WakeLocal.
//
//export haloWake
func haloWake(_ unsafe.Pointer, local, room C.int) { lib.WakeLocal(int(local), room != 0) }

// haloAfterLock finishes a Lock or Unlock that C has made: see bind.Lib.AfterLock.
//
//export haloAfterLock
func haloAfterLock(_ unsafe.Pointer, win C.uintptr_t, rank, what C.int) {
	lib.AfterLock(uintptr(win), int(rank), int(what))
}

// haloBalance spreads the members of a communicator over the cores.
//
//export haloBalance
func haloBalance(_ unsafe.Pointer, comm C.uintptr_t) { lib.Balance(uintptr(comm)) }

// haloAttach is the first function of Go that each thread of C calls. Handlers of the program may run on the stack of its
// goroutine, which stays large: see GrowStack.
//
//export haloAttach
func haloAttach() {
	bind.FaultsArePanics()
	sys.GrowStack()
}

// haloWild raises the error of a call whose buffer has no accessible memory: see bind.Lib.Wild.
//
//export haloWild
func haloWild(_ unsafe.Pointer, number, large C.int, words unsafe.Pointer, parameter C.int, name *C.char, address C.uintptr_t, store C.int) C.int {
	return C.int(lib.Wild(int(number), large != 0, words, int(parameter), C.GoString(name), uintptr(address), store != 0))
}

func malloc(size uintptr) unsafe.Pointer { return C.malloc(C.size_t(size)) }

// lend is malloc under valgrind.
func lend() func(uintptr) unsafe.Pointer {
	if !onValgrind {
		return nil
	}
	return malloc
}

func free(p unsafe.Pointer) { C.free(p) }

func caller() uintptr { return uintptr(C.halo_caller()) }

func thread() int { return int(C.halo_thread()) }

func becomeMain() { C.halo_become_main() }

func isMain() bool { return C.halo_is_main() != 0 }

func invoke(callback int, function uintptr, words []uintptr) int {
	if onValgrind { // which may take memory of Go for free: see bind.Hooks.Lend
		lent := unsafe.Slice((*uintptr)(malloc(uintptr(len(words))*unsafe.Sizeof(words[0]))), len(words))
		defer free(unsafe.Pointer(&lent[0]))
		copy(lent, words)
		defer copy(words, lent)
		return int(C.haloInvokeIn(C.int(callback), C.uintptr_t(function), (*C.word)(unsafe.Pointer(&lent[0]))))
	}
	var pins runtime.Pinner
	pins.Pin(&words[0])
	defer pins.Unpin()
	return int(C.haloInvokeIn(C.int(callback), C.uintptr_t(function), (*C.word)(unsafe.Pointer(&words[0]))))
}

func fault(address uintptr, store bool) {
	written := C.int(0)
	if store {
		written = 1
	}
	C.halo_fault_at(C.uintptr_t(address), written)
}

// variable is getenv: programs change their environment by setenv and putenv, which os.Getenv does not see.
func variable(name string) string {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	value := C.getenv(n)
	if value == nil {
		return ""
	}
	// C.GoString would read words behind the end, which valgrind takes for an error of the program.
	return C.GoStringN(value, C.int(C.strlen(value)))
}

func leave(now bool) bool {
	if now {
		C.halo_leave()
	}
	return C.halo_leaves() != 0
}

// watchdog implements proc.Policy.Watchdog. The runtime gives the place of its goroutine to others once.
func watchdog(process *shmfmt.ProcessRecord, tick, most time.Duration) {
	C.halo_watch((*C.char)(unsafe.Pointer(process)), C.int64_t(tick), C.int64_t(most))
}

func endByFault() { C.halo_end_by_fault() }

func main() {}
