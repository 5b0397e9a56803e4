package cname

import (
	"runtime"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
)

// Text replaces the names of Go in texts of the engine by those of C.
func TestWordsOfC(t *testing.T) {
	for _, c := range []struct {
		text   string
		window bool
		want   string
	}{
		{"flushes belong to epochs of Lock and LockAll", true, "flushes belong to epochs of MPI_Win_lock and MPI_Win_lock_all"},
		{"an exposure epoch of Post is open", false, "an exposure epoch of MPI_Win_post is open"},
		{"5 signals came before Start", true, "5 signals came before MPI_Win_start"},
		{"request of Start is inactive", false, "request of MPI_Start is inactive"},
		{"lock type 7 is neither LockExclusive nor LockShared", true, "lock type 7 is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED"},
		{"color -3 is negative and not Undefined", false, "color -3 is negative and not MPI_UNDEFINED"},
		{"the request of Idup is not complete", false, "the request of MPI_Comm_idup is not complete"},
		{"one program with mpi.Init per rank", false, "one program with MPI_Init per rank"},
		{"operation Sum is not defined on MPI_CHAR", false, "operation MPI_SUM is not defined on MPI_CHAR"},
		{`no key "Start" of nil, or "Lock \" Put"`, true, `no key "Start" of null, or "Lock \" Put"`},
		{`0Start _Start "Start and \"Put`, false, `0Start _Start "MPI_Start and \"MPI_Put`},
		{"", false, ""},
		{"IwaitNotify, counter 300 at 5 of 8", true, "MPIX_Win_wait_notify, counter 300 at 5 of 8"},
		{"IwaitNotify, counter 300 at 5 of 8", false, "MPIX_Win_wait_notify, counter 300 at 5 of 8"},
		{"called after Finalize", false, "called after MPI_Finalize"},
		{"2 elements of MPI_INT, the limit is 1 of a slice", false, "2 elements of MPI_INT, the limit is 1 of a buffer"},
		{"MPI_Accumulate (Sum of float32) by rank 2", true, "MPI_Accumulate (MPI_SUM of MPI_FLOAT) by rank 2"},
		{"rank 2 gives 1 x int64, rank 0 gives 1 x (float64, int32)", false, "rank 2 gives 1 x MPI_INT64_T, rank 0 gives 1 x (MPI_DOUBLE, MPI_INT32_T)"},
		{"1 byte is not whole elements of MPI_BYTE", false, "1 byte is not whole elements of MPI_BYTE"},
		{"Halo does not have it yet", false, "Halo does not have it yet"},
	} {
		if got := Text(c.text, c.window); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// For each element type of package op, Text returns the name of a predefined type that has this
// representation.
func TestElementsOfC(t *testing.T) {
	types := map[string]op.Type{}
	dtype.Predefined().Each(func(_ dtype.ID, d *dtype.Type) { types[d.Name()] = op.For(d) })
	for _, e := range op.All() {
		if e == op.Float80 || e == op.Complex160 {
			if runtime.GOARCH != "amd64" || runtime.GOOS == "windows" {
				continue // the x87 format is no type of C on this platform
			}
		}
		for _, word := range strings.Split(strings.Trim(e.String(), "()"), ", ") {
			if name := Text(word, false); types[name] == 0 || types[name].String() != word {
				t.Errorf("%s of %v is %s in C, which is %v", word, e, name, types[name])
			}
		}
	}
}
