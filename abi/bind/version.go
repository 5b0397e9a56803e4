package bind

import (
	"strconv"

	"github.com/halo-mpi/halo/mpi"
)

// abiVersion is MPI_Abi_get_version.
func abiVersion() (major, minor int) { return 1, 0 }

// abiInfo is MPI_Abi_get_info: the sizes of the types of numbers of the ABI.
func abiInfo() *mpi.Info {
	i := mpi.NewInfo()
	for _, name := range []string{"mpi_aint_size", "mpi_count_size", "mpi_offset_size"} {
		i.Set(name, strconv.Itoa(int(word))) // cannot fail
	}
	return i
}

// pcontrol is MPI_Pcontrol, which tools replace: it does nothing.
func pcontrol(int) {}
