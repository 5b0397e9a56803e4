package mpi

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/rma/check"
)

// locator is what LocateCalls was given.
type locator struct {
	caller func() uintptr
	place  func(pc uintptr) string
	name   func(call string) string
}

// LocateCalls has reports of the checking mode say where in the source of another language
// the calls are that they name, for bindings of that language: caller is the address to which
// the call returns that the calling goroutine is carrying out, 0 if that is none of the other
// language, place is an address of this process in words, such as a file and a line, and name
// what that language calls a function or method of this package. caller is called for each call
// that is checked, the others for calls that a report names. It holds for the world that Init
// makes; a caller that is nil undoes it.
//
// C: none; for bindings, like NameCalls.
func (internals) LocateCalls(caller func() uintptr, place func(pc uintptr) string, name func(call string) string) {
	if caller == nil {
		current.locator.Store(nil)
		return
	}
	current.locator.Store(&locator{caller, place, name})
}

// located is the call of the program that is being carried out, with its place.
func located(name string) check.Call {
	if l := current.locator.Load(); l != nil {
		if pc := l.caller(); pc != 0 {
			return check.Call{Name: name, PC: pc}
		}
	}
	return check.Call{Name: name, Site: site()}
}

// placeOf is where a call of this process is, in words, and nameOfCall what the program calls it.
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

// site is where the program has called this package: the file and the line.
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
