package world

import (
	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
)

// RunWrapped is RunGoroutines over tcp, with another fabric in front of that of each rank.
func RunWrapped(n int, wrap func(rank int, f *tcp.Fabric) fabric.Fabric, fn func(*World) error) error {
	g := &goroutines{ranks: make([]*World, n)}
	boots := boot.Memory(n)
	return g.runAll(func(i int) (*World, error) {
		way, err := openRemote(boots[i], nil, i)
		if err != nil {
			return nil, err
		}
		return startOver(boots[i], way, wrap(i, way.far), false, goroutinePolicy(), false, notes{})
	}, joined(fn))
}
