package file

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// BenchmarkStage copies a member's part of a domain, every fourth block, to the aggregator's stage.
func BenchmarkStage(b *testing.B) {
	set := dtype.Predefined()
	for _, size := range []int64{16, 64, 512, 4096} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			const domain = 1 << 20
			t, err := dtype.Vector(domain/4/size, size, 4*size, set.Named("MPI_BYTE"))
			if err != nil {
				b.Fatal(err)
			}
			t.Commit()
			v, err := newView(0, set.Named("MPI_BYTE"), t, Native, true, set.Named("MPI_BYTE"), nil)
			if err != nil {
				b.Fatal(err)
			}
			a := &collectiveAccess{v: v, d: Write, m: mem.Of(make([]byte, domain/4))}
			s := &staged{a: a, end: domain / 4}
			h := &half{cover: coverage{make([]uint64, coverageBytes(domain)/8), shiftOf(v.grain)}, data: make([]byte, domain)}
			b.SetBytes(domain / 4)
			for b.Loop() {
				m := marker{c: &h.cover}
				s.pieces(h, &m, 0, 0, domain/4)
				m.flush()
			}
		})
	}
}
