package bind

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/mpi"
)

// showVariable has every error printed that a program gets: one whose errors return is told
// the class only.
const showVariable = "HALO_SHOW_ERRORS"

// describe gives an error the names of C, before its handler hears of it.
func (l *Lib) describe(e *mpi.Error) {
	p := find(e.Call)
	e.Detail = cname.Text(e.Detail, p != nil && p.win > 0)
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
		if procedures[i].String() == name {
			return &procedures[i]
		}
	}
	return nil
}
