package mpi

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/rma/check"
)

// locator has the functions that LocateCalls was given.
type locator struct {
	caller func() uintptr
	place  func(pc uintptr) string
	name   func(call string) string
}

// LocateCalls sets functions by which reports of checking mode name calls, and their places in
// the source, in the terms of another language; it exists for bindings for that language. caller
// returns the return address of the call that the calling goroutine is in, or 0 if that call
// does not come from the other language. place describes an address of this process in words,
// such as a file and a line. name translates the name of a function or method of this package.
// caller is called for each checked call, the others for calls that a report names. The
// functions apply to the world that Init makes; a nil caller removes them.
//
// C: none; for bindings, like NameCalls.
func (internals) LocateCalls(caller func() uintptr, place func(pc uintptr) string, name func(call string) string) {
	if caller == nil {
		current.locator.Store(nil)
		return
	}
	current.locator.Store(&locator{caller, place, name})
}

// located is the call that the program is making, with its place.
func located(name string) check.Call {
	if l := current.locator.Load(); l != nil {
		if pc := l.caller(); pc != 0 {
			return check.Call{Name: name, PC: pc}
		}
	}
	return check.Call{Name: name, Site: site()}
}

// placeOf describes the place of a call of this process in words, and nameOfCall is the
// program's name for the call.
func placeOf(at *check.Call) string {
	if l := current.locator.Load(); l != nil && at.PC != 0 {
		return l.place(at.PC)
	}
	return at.Site
}

func nameOfCall(at *check.Call) string {
	if l := current.locator.Load(); l != nil && at.PC != 0 {
		return l.name(at.Name)
	}
	return at.Name
}

// site is the file and the line where the program called this package.
func site() string {
	var counters [24]uintptr
	n := runtime.Callers(2, counters[:])
	frames := runtime.CallersFrames(counters[:n])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "github.com/halo-mpi/halo/mpi.") && !strings.HasPrefix(f.Function, "github.com/halo-mpi/halo/internal/") {
			return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
