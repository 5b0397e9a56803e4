// Package cname translates texts of the engine for users of programs in C: it replaces the names
// of calls and constants in Go by those in C. Package abi/bind uses it for errors, and the
// launcher for messages about ranks that are programs in C. What a rank waits for needs no translation: it notes the
// names of its language itself (proc.Proc.AppendCall).
package cname

import (
	"sort"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
)

// Plain returns the name of a procedure without prefix and underscores, in lower case. So it equals
// the name of the call in Go except for capitals.
func Plain(name string) string {
	_, name, _ = strings.Cut(name, "_") // MPI_ or MPIX_
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// Find returns the procedure whose plain name is word, ignoring case; "" if there is none.
//
// It is a binary search in the procedures, which are ordered by plain name. A map would take memory in every
// process that has an error.
func Find(word string) string {
	word = strings.ToLower(word)
	if name := other(word); name != "" {
		return name
	}
	i, found := sort.Find(int(call.Procedures), func(i int) int {
		return strings.Compare(word, Plain(call.Number(i+1).C()))
	})
	if !found {
		return ""
	}
	return call.Number(i + 1).C()
}

// other returns the procedure of a call whose name in Go differs from its plain name; "" for other
// calls. word must be in lower case.
func other(word string) string {
	switch word {
	case "iwaitnotify":
		return "MPIX_Win_wait_notify"
	case "notifyget":
		return "MPIX_Win_notify_get_value"
	case "notifyset":
		return "MPIX_Win_notify_set_value"
	case "ibufferflush":
		return "MPI_Buffer_iflush"
	case "opensession":
		return "MPI_Session_init"
	case "commfromgroup":
		return "MPI_Comm_create_from_group"
	case "intercommfromgroups":
		return "MPI_Intercomm_create_from_groups"
	case "openfile":
		return "MPI_File_open"
	case "deletefile":
		return "MPI_File_delete"
	case "psets":
		return "MPI_Session_get_num_psets"
	case "psetinfo":
		return "MPI_Session_get_pset_info"
	case "startgrequest":
		return "MPI_Grequest_start"
	}
	return ""
}
