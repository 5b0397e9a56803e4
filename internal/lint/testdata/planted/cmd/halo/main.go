// Command halo imports downward, which is right.
package main

import (
	_ "github.com/halo-mpi/halo/examples/hello" // want layers "the tool does not depend on its examples"
	"github.com/halo-mpi/halo/mpi"
)

var verbose bool

func main() { mpi.Send(verbose) }
