package inproc_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/fabrictest"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/testrun"
)

// killable makes a fabric a fabrictest.Killer.
type killable struct {
	*shm.Fabric
	world *inproc.World
	me    int
}

func (m killable) Kill() { m.world.Kill(m.me) }

func TestConformance(t *testing.T) {
	part := 1
	if testrun.Race {
		part = 4 // the rings are those of package shm, and without the race detector all repetitions run
	}
	fabrictest.RunPart(t, part, func(t testing.TB, n int) []fabric.Fabric {
		w, nodes := open(t, n)
		fabrics := make([]fabric.Fabric, n)
		for i, n := range nodes {
			fabrics[i] = killable{shm.New(n), w, i}
		}
		return fabrics
	})
}
