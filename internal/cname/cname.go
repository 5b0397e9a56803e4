// Package cname says in C what the engine says in Go: the names of procedures and constants in
// texts for people who read or wrote a program in C. Package abi/bind uses it for errors, and the
// launcher for what it tells of ranks that are programs in C.
package cname

import "strings"

// Plain is the name of a procedure as one of Go would be, in lower case.
func Plain(name string) string {
	_, name, _ = strings.Cut(name, "_") // MPI_ or MPIX_
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// Find is the procedure whose plain name is word but for capitals, "" if there is none.
//
// It searches the text of all names and not a map: that would be memory of every process that
// has an error.
func Find(word string) string {
	word = strings.ToLower(word)
	if name := other(word); name != "" {
		return name
	}
	for low, high := 0, len(names); low < high; {
		begin := low + strings.LastIndexByte(names[low:(low+high)/2], '\n') + 1
		end := begin + strings.IndexByte(names[begin:], '\n')
		name := names[begin:end]
		switch c := strings.Compare(Plain(name), word); {
		case c == 0:
			return name
		case c < 0:
			low = end + 1
		default:
			high = begin
		}
	}
	return ""
}

// other is the procedure of a call whose name in Go has other letters, "" of those that have the same.
// The word is in lower case.
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
	case "startgrequest":
		return "MPI_Grequest_start"
	}
	return ""
}

// Wait is what a process in C waits for: the text of the engine with the call named as in C. The
// name of the communicator is the program's.
func Wait(text string) string {
	call, on, found := strings.Cut(text, " on ")
	if call = Text(call, true); found { // of names that windows share, only theirs are waited for
		call += " on " + on
	}
	return call
}
