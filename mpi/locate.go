package mpi

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/rma/check"
)

// LocateCalls sets functions by which reports of checking mode name calls, and their places in
// the source, in the terms of another language; it exists for bindings for that language. l.Here
// returns the call that the calling goroutine is in: without an address if that call
// does not come from the other language. Nothing else of it is used. l.Here is called for each checked
// call, the others for calls that a report names. The functions apply to the world that Init makes;
// those of a Locator without Here are removed.
//
// C: none; for bindings, like NameCalls.
func (internals) LocateCalls(l callsite.Locator) {
	if l.Here == nil {
		current.locator.Store(nil)
		return
	}
	current.locator.Store(&l)
}

// locate is the locator of the engine.
func (p *process) locate() callsite.Locator {
	l := callsite.Locator{}
	if other := p.locator.Load(); other != nil {
		l = *other
	}
	l.Here = func() callsite.Call { return located(call.None) }
	return l
}

// resolved replaces addresses of C in the text of an error by places in the source.
func (p *process) resolved(text string) string {
	if l := p.locator.Load(); l != nil {
		return l.Resolve(text)
	}
	return text
}

// located is the call that the program is making, with its place.
func located(by call.Number) check.Call {
	c := check.Call{Name: by.Name(current.names.Load() != nil), Number: by}
	if l := current.locator.Load(); l != nil {
		c.PC = l.Here().PC
	}
	if c.PC == 0 {
		c.Site = site()
	}
	return c
}

// placeOf describes the place of a call of this process in words.
func placeOf(at *check.Call) string {
	if l := current.locator.Load(); l != nil && at.PC != 0 {
		return l.Place(at.PC)
	}
	return at.Site
}

// site is the file and the line where the program called this package. It is not known in a goroutine that
// this package has begun, as for split accesses of files, or that began with the call.
func site() string {
	var counters [24]uintptr
	n := runtime.Callers(2, counters[:])
	frames := runtime.CallersFrames(counters[:n])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "runtime.goexit") {
			return "an unknown place"
		}
		if !strings.HasPrefix(f.Function, "github.com/halo-mpi/halo/mpi.") && !strings.HasPrefix(f.Function, "github.com/halo-mpi/halo/internal/") {
			return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
