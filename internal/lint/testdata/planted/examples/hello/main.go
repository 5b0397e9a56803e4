// Command hello uses what its reader cannot.
package main

import (
	"github.com/halo-mpi/halo/internal/proc" // want layers "an example shows what a user can write"
	"github.com/halo-mpi/halo/mpi"
)

func main() { mpi.Send(proc.A) }
