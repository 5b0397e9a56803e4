package shm

import (
	"testing"

	"github.com/halo-mpi/halo/mpi/mpitest"
	_ "golang.org/x/sys/unix" // want imports "only internal/sys may"
)

var table = []int{1, 2, 3}

func TestUpward(t *testing.T) { mpitest.Run(t, len(table), nil) }
