package file_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/file"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/world"
)

// A member whose idea of the domains differs from that of the others sends parcels that do not belong to the
// domain of the aggregator, which must not use them as indexes. All members get the error, in whichever
// round it is found, and whether an aggregator or another member is wrong, and the communicator of the file can be used afterwards.
func TestIO01_ParcelsOutsideOfTheDomain(t *testing.T) {
	defer awake(t)()
	const n = 3
	dir := t.TempDir()
	for _, fabric := range fabrics() {
		for _, d := range []file.Direction{file.Write, file.Read} {
			for i := range 2 * n {
				odd, aggregators := i%n, 1+i/n*(n-1)
				err := world.RunGoroutines(fabric, n, func(w *world.World) error {
					f, err := w.File.Open(w.Comm, filepath.Join(dir, fmt.Sprint(fabric, odd)), file.ReadWrite|file.Create, dtype.Predefined().Named("MPI_BYTE"), phased(), nil)
					if err != nil {
						return err
					}
					if err := interleave(w, f); err != nil {
						return err
					}
					lo, data := int64(0), bytes.Repeat([]byte{byte(w.Comm.Rank + 1)}, share)
					if w.Comm.Rank == odd {
						lo = 8192
					}
					_, err = f.InPhases(d, mem.Of(data), lo, lo+block*periods*(n+1), aggregators)
					if classOf(err) != class.Intern || !strings.Contains(err.Error(), "in the domain [") && !strings.Contains(err.Error(), "accesses a part of the file for all members") {
						return fmt.Errorf("rank %d of %d: %v", w.Comm.Rank, n, err)
					}
					if _, err := f.DoAll(file.Write, 0, file.Data{Mem: mem.Of(data)}, call.FileWriteAtAll); err != nil {
						return fmt.Errorf("afterwards: %w", err)
					}
					return f.Close()
				})
				if err != nil {
					t.Errorf("over %s, %d aggregators, rank %d has other domains: %v", fabric, aggregators, odd, err)
				}
			}
		}
	}
}
