package mpi

import (
	"os"
	"slices"
	"strings"
)

// MemoryAllocKinds requests support for kinds of memory in a session: a list such as
// "system,mpi:alloc_mem,cuda:device". Kinds and restrictions that Halo does not support are
// dropped. Info of the session, and of its communicators and windows, tells the others.
//
// C: info key mpi_memory_alloc_kinds, section 11.4.3.
type MemoryAllocKinds string

func (v MemoryAllocKinds) sessionHint(s *Session) { s.kinds = supportedKinds(string(v)) }

const (
	keyAllocKinds = "mpi_memory_alloc_kinds"
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
