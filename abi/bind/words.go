package bind

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/halo-mpi/halo/mpi"
)

// The engine speaks of calls and constants as package mpi names them. What a program in C reads
// has the names of C.

// words are what may be a name: a word, with what stands for the package before it. What is
// quoted was given by the program and stays.
var words = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b(?:mpi\.)?[A-Za-z][A-Za-z0-9_]*\b`)

// terms are words that are no calls, with what they are in C.
var terms = map[string]string{
	"AnySource": "MPI_ANY_SOURCE", "AnyTag": "MPI_ANY_TAG", "ProcNull": "MPI_PROC_NULL", "Root": "MPI_ROOT", "Undefined": "MPI_UNDEFINED",
	"LockExclusive": "MPI_LOCK_EXCLUSIVE", "LockShared": "MPI_LOCK_SHARED",
	"Sum": "MPI_SUM", "Prod": "MPI_PROD", "Min": "MPI_MIN", "Max": "MPI_MAX", "Minloc": "MPI_MINLOC", "Maxloc": "MPI_MAXLOC",
	"Land": "MPI_LAND", "Lor": "MPI_LOR", "Lxor": "MPI_LXOR", "Band": "MPI_BAND", "Bor": "MPI_BOR", "Bxor": "MPI_BXOR",
	"Replace": "MPI_REPLACE", "NoOp": "MPI_NO_OP",
	"slice": "buffer", "goroutine": "thread", "goroutines": "threads", "nil": "null",
}

// inC is a text of the engine with names as in C. Of names that windows and other objects
// share, such as Start, those of windows come first if the text is of a call on a window.
func inC(text string, window bool) string {
	order := [...]string{"", "win", "comm", "type"}
	if window {
		order = [...]string{"win", "", "comm", "type"}
	}
	return words.ReplaceAllStringFunc(text, func(w string) string {
		name, ofPackage := strings.CutPrefix(w, "mpi.")
		switch {
		case w[0] == '"' || strings.Contains(w, "_"):
			return w
		case terms[name] != "":
			return terms[name]
		case name[0] < 'A' || name[0] > 'Z':
			return w
		}
		for _, prefix := range order {
			if c := plainNames()[prefix+strings.ToLower(name)]; c != "" {
				return c
			}
		}
		if ofPackage {
			return "MPI_" + name
		}
		return w
	})
}

// showVariable has every error printed that a program gets: one whose errors return is told
// the class only.
const showVariable = "HALO_SHOW_ERRORS"

// describe gives an error the names of C, before its handler hears of it.
func (l *Lib) describe(e *mpi.Error) {
	p := find(e.Call)
	e.Detail = inC(e.Detail, p != nil && p.win > 0)
	if os.Getenv(showVariable) == "1" {
		rank := ""
		if world := l.world.Load(); world != nil {
			rank = fmt.Sprintf("rank %d: ", world.Rank())
		}
		fmt.Fprintf(os.Stderr, "%s%v\n", rank, e)
	}
}

// find is the procedure with a name, nil if there is none.
func find(name string) *procedure {
	for i := range procedures {
		if procedures[i].name == name {
			return &procedures[i]
		}
	}
	return nil
}
