package mpi

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"
)

// MemoryAllocKinds requests support for kinds of memory in a session: a list such as
// "system,mpi:alloc_mem,cuda:device". Kinds and restrictions that Halo does not support are
// dropped. Info of the session, and of its communicators, windows and files, tells the others.
//
// C: info key mpi_memory_alloc_kinds, section 11.4.3.
type MemoryAllocKinds string

func (v MemoryAllocKinds) sessionHint(s *Session) { s.kinds = supportedKinds(string(v)) }

// AssertMemoryAllocKinds asserts that all memory that this process passes to calls on the
// communicator, window or file is of kinds in a list such as "system,mpi:alloc_mem"; an empty list
// means that it passes none. Info returns the list as it was given, also as the value of
// mpi_memory_alloc_kinds. Halo ignores the assertion if the list has a kind that
// mpi_memory_alloc_kinds of the session, or of the world model, does not include. Halo does not
// use it for optimization, and does not check it: it treats memory of all these kinds alike.
//
// C: info key mpi_assert_memory_alloc_kinds, section 11.4.3.
type AssertMemoryAllocKinds string

func (v AssertMemoryAllocKinds) commHint(o *commOptions) { o.kinds = (*string)(&v) }
func (v AssertMemoryAllocKinds) winHint(o *winOptions)   { o.kinds = (*string)(&v) }

// assertedKinds are the kinds of memory that a program has asserted for a communicator or window;
// nil if none.
type assertedKinds struct{ atomic.Pointer[string] }

// set stores an assertion, unless it is nil or has kinds beyond those of the supported list.
func (a *assertedKinds) set(kinds *string, supported string) {
	if kinds == nil {
		return
	}
	if *kinds != "" {
		for entry := range strings.SplitSeq(*kinds, ",") {
			if !includesKind(supported, strings.TrimSpace(entry)) {
				return
			}
		}
	}
	a.Store(kinds)
}

// pairs are the info keys and values of an object with this assertion.
func (a *assertedKinds) pairs(supported string) [][2]string {
	if kinds := a.Load(); kinds != nil {
		return [][2]string{{keyAssertKinds, *kinds}, {keyAllocKinds, *kinds}}
	}
	return [][2]string{{keyAllocKinds, supported}}
}

// includesKind reports whether memory of one kind is of a kind in a list of supported ones.
func includesKind(list, entry string) bool {
	kind, restrictions, restricted := strings.Cut(entry, ":")
	if !supportedKind(kind, restrictions) {
		return false
	}
	for other := range strings.SplitSeq(list, ",") {
		k, all, some := strings.Cut(other, ":")
		switch {
		case k != kind || some && !restricted:
		case !some || includesAll(strings.Split(all, ":"), strings.Split(restrictions, ":")):
			return true
		}
	}
	return false
}

func includesAll(list, items []string) bool {
	return !slices.ContainsFunc(items, func(item string) bool { return !slices.Contains(list, item) })
}

const (
	keyAllocKinds  = "mpi_memory_alloc_kinds"
	keyAssertKinds = "mpi_assert_memory_alloc_kinds"
	// defaultKinds are the kinds of memory that every implementation supports, and all that Halo
	// does: memory of the process, and that of AllocMem and of windows.
	defaultKinds = "mpi,system"
	// kindsVariable is the environment variable by which the launcher passes on the kinds that
	// its option -memory-alloc-kinds requests for the world model.
	kindsVariable = "HALO_MEMORY_ALLOC_KINDS"
)

// worldKinds are the kinds of the world model.
func worldKinds() string {
	if v, requested := os.LookupEnv(kindsVariable); requested {
		return supportedKinds(v)
	}
	return defaultKinds
}

// supportedKinds returns those of a list of kinds that Halo supports, and the default if there are
// none.
func supportedKinds(list string) string {
	var kinds []string
	for entry := range strings.SplitSeq(list, ",") {
		kind, restrictions, _ := strings.Cut(strings.TrimSpace(entry), ":")
		if !supportedKind(kind, restrictions) || slices.Contains(kinds, strings.TrimSpace(entry)) {
			continue
		}
		kinds = append(kinds, strings.TrimSpace(entry))
	}
	if kinds == nil {
		return defaultKinds
	}
	return strings.Join(kinds, ",")
}

// supportedKind reports whether Halo supports a kind with restrictions, which colons separate.
func supportedKind(kind, restrictions string) bool {
	switch {
	case kind == "system":
		return restrictions == ""
	case kind != "mpi":
		return false
	case restrictions == "":
		return true
	}
	for r := range strings.SplitSeq(restrictions, ":") {
		if r != "alloc_mem" && r != "win_allocate" && r != "win_allocate_shared" {
			return false
		}
	}
	return true
}
