package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// allocMem is MPI_Alloc_mem.
func (l *Lib) allocMem(size int64, info *mpi.Info) (uintptr, error) {
	mem, err := mpi.AllocMem[byte](l.base(), int(size), info)
	return address(mem), err
}

// freeMem is MPI_Free_mem. Like free of C it ignores a null pointer.
func (l *Lib) freeMem(base uintptr) error {
	if base == 0 {
		return nil
	}
	mem, ok := slice(base, 1)
	if !ok {
		return l.fail(mpi.ErrBase, call.FreeMem, "%#x is no address of memory", base)
	}
	return mpi.FreeMem(l.base(), mem)
}
