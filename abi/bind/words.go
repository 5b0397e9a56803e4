package bind

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/cname"
	"github.com/halo-mpi/halo/mpi"
)

// showVariable is the environment variable that prints every error of a program. A program
// whose errors return gets only the class from the call.
const showVariable = "HALO_SHOW_ERRORS"

// describe changes the detail of an error to the names of C, before its error handler is called.
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

// find returns the procedure with a name, nil if there is none.
func find(name string) *procedure {
	for i := range procedures {
		if procedures[i].String() == name {
			return &procedures[i]
		}
	}
	return nil
}
