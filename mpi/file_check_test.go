package mpi_test

import (
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// IO-19: in checking mode the types of data are compared with the elementary type of the view, whatever the
// representation: data consists of a whole number of its elements. Bytes match any type, on either side. The
// error names both types, and all members of a collective access get it.
func TestIO19_TypesOfDataAndView(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	type pair struct {
		Wide  int64
		Short int16
	}
	onFile(t, 2, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		_, err := mpi.WriteAt(f, 0, []float64{1}) // the view is of bytes
		ok(t, err)
		double := typeOf[float64]()
		for _, representation := range []string{"native", "external32"} {
			ok(t, f.SetView(0, double, double, representation))
			_, err = mpi.WriteAt(f, 1, []float64{1, 2})
			ok(t, err)
			_, err = f.WriteAt(0, mpi.BufOf(make([]float64, 6), 2, committed(mpi.TypeVector(2, 1, 2, double))))
			ok(t, err)
			_, err = mpi.WriteAt(f, 3, make([]byte, 8))
			ok(t, err)
			_, err = mpi.ReadAt(f, 0, make([]int64, 3))
			wantClass(t, err, mpi.ErrType)
			if err == nil || !strings.Contains(err.Error(), "ReadAt on "+path+": 3 x MPI_INT64_T") || !strings.Contains(err.Error(), "but the view has elements of type 1 x MPI_DOUBLE") {
				t.Error(err)
			}
			q := mpi.IwriteAt(f, 0, []int64{1})
			_, err = q.Wait()
			wantClass(t, err, mpi.ErrType)
			mine := mpi.Buf([]float64{1})
			if c.Rank() == 1 {
				mine = mpi.Buf([]int64{1})
			}
			_, err = f.WriteAll(mine)
			wantClass(t, err, mpi.ErrType)
			q = f.IreadAtAll(0, mine)
			_, err = q.Wait()
			wantClass(t, err, mpi.ErrType)
			ok(t, f.WriteAtAllBegin(0, mine))
			_, err = f.WriteAtAllEnd()
			wantClass(t, err, mpi.ErrType)
		}
		element := typeOf[pair]()
		ok(t, f.SetView(0, element, element, "native"))
		_, err = f.WriteAt(0, mpi.Buf([]pair{{1, 2}, {3, 4}}))
		ok(t, err)
		_, err = mpi.WriteAt(f, 0, make([]int64, 5)) // as many bytes as 4 pairs
		wantClass(t, err, mpi.ErrType)
		ok(t, f.Close())
	})
}

// Outside of checking mode types are not compared: only the bytes count.
func TestIO19_TypesAreComparedInCheckingModeOnly(t *testing.T) {
	t.Setenv("HALO_CHECK", "0")
	onFile(t, 1, func(t testing.TB, c *mpi.Comm, path string) {
		f := openFile(t, c, path, newFile)
		double := typeOf[float64]()
		ok(t, f.SetView(0, double, double, "native"))
		_, err := mpi.WriteAt(f, 0, []int64{1})
		ok(t, err)
		ok(t, f.Close())
	})
}
