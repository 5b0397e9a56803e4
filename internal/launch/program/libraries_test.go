//go:build linux

package program

import (
	"testing"
)

func TestNamesOfLibrariesOfAnotherMPI(t *testing.T) {
	for _, name := range []string{"libmpi.so", "libmpi.so.40", "libmpi.so.40.30.4", "libmpich.so.12", "libmpichcxx.so.12", "libmpi_cxx.so.40",
		"libmpifort.so.12", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"} {
		if !isOtherMPI(name) {
			t.Errorf("%s is not known", name)
		}
	}
	for _, name := range []string{"libmpi_abi.so.0", "libmpi_abi.so.1", "libmpi_f2c.so", "libmpi_compat.a", "libmpiabc.so", "libmp.so", "libc.so.6", "libmpi.so.40.py", "mpi.so"} {
		if isOtherMPI(name) {
			t.Errorf("%s is taken for one of another MPI", name)
		}
	}
}
