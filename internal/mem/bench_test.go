package mem_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// BenchmarkPack compares a Mem with the Buffer that it is made of, for columns of a matrix (each
// is one element of a type) and for elements with gaps. Buffer and Mem bind the arguments of a call
// in the timed loop, as for a message; Bound and Made bind them before it, as for the pieces of
// a long message.
func BenchmarkPack(b *testing.B) {
	set := dtype.Predefined()
	for _, n := range []int64{1, 8, 64, 1024} {
		column, err := dtype.Vector(n, 1, 4, set.Type(dtype.Double))
		if err != nil {
			b.Fatal(err)
		}
		column.Commit()
		gaps := every(nil, 8, 24, 0).Type()
		for _, l := range []struct {
			name  string
			t     *dtype.Type
			count int64
		}{{"column", column, 1}, {"columns", column, 2}, {"gaps", gaps, n + 1}} {
			memory, frame := make([]byte, 80*n), make([]byte, 16*n)
			b.Run(fmt.Sprintf("%s/%d/Buffer", l.name, n), func(b *testing.B) {
				for b.Loop() {
					x, _ := dtype.Bind(memory, 0, l.t, l.count)
					x.Pack(frame, 0)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/Mem", l.name, n), func(b *testing.B) {
				for b.Loop() {
					x, _ := dtype.Bind(memory, 0, l.t, l.count)
					mem.In(&x).Pack(frame, 0)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/Made", l.name, n), func(b *testing.B) {
				x, _ := dtype.Bind(memory, 0, l.t, l.count)
				m := mem.In(&x)
				for b.Loop() {
					m.Pack(frame, 0)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/Bound", l.name, n), func(b *testing.B) {
				x, _ := dtype.Bind(memory, 0, l.t, l.count)
				for b.Loop() {
					x.Pack(frame, 0)
				}
			})
		}
	}
}
