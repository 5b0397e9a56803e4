package bind

import (
	"strconv"

	"github.com/halo-mpi/halo/mpi"
)

// abiVersion is MPI_Abi_get_version.
func abiVersion() (major, minor int) { return 1, 0 }

// abiInfo is MPI_Abi_get_info: the sizes of MPI_Aint, MPI_Count and MPI_Offset.
func abiInfo() *mpi.Info {
	i := mpi.NewInfo()
	for _, name := range []string{"mpi_aint_size", "mpi_count_size", "mpi_offset_size"} {
		i.Set(name, strconv.Itoa(int(word))) // cannot fail
	}
	return i
}

// pcontrol is MPI_Pcontrol. It does nothing; tools may intercept it.
func pcontrol(int) {}
