package fortran

import (
	"strings"
	"testing"

	"github.com/halo-mpi/halo/abi"
)

// only in C: tools, conversions of handles and statuses, and what the Fortran library itself calls.
func inC(name string) bool {
	for _, suffix := range []string{"_toint", "_fromint", "_c2f", "_f2c", "_x", "_as_fortran", "_add_hooks"} {
		if strings.HasSuffix(name, suffix) && name != "MPI_Get_elements_x" && name != "MPI_Status_set_elements_x" && !strings.HasPrefix(name, "MPI_Type_") {
			return true
		}
	}
	return strings.HasPrefix(name, "MPI_T_") || strings.HasPrefix(name, "MPI_Type_") && (strings.HasSuffix(name, "_toint") || strings.HasSuffix(name, "_fromint"))
}

// Every procedure of C is one of Fortran, with the same parameters.
func TestProceduresOfCAreInFortran(t *testing.T) {
	list, err := Procedures()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, p := range list {
		has[p.Name] = true
	}
	all, err := abi.Procedures()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if has[p.Name] == inC(p.Name) && p.Name != "MPI_Psend_init_c" && p.Name != "MPI_Precv_init_c" {
			t.Errorf("%s: in Fortran %v", p.Name, has[p.Name])
		}
	}
}

// Lines of mpif.h are valid in fixed and in free form: nothing is beyond column 72, nothing is
// continued (FTN-09).
func TestFTN09_IncludeFileIsOfBothForms(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(files["mpif.h"]), "\n"), "\n")
	if len(lines) < 600 {
		t.Errorf("mpif.h has %d lines", len(lines))
	}
	for i, line := range lines {
		switch {
		case len(line) > 72, strings.HasSuffix(line, "&"):
			t.Errorf("mpif.h:%d: %q is too long, or continued", i+1, line)
		case !strings.HasPrefix(line, "!") && !strings.HasPrefix(line, "      "):
			t.Errorf("mpif.h:%d: %q begins before column 7", i+1, line)
		}
	}
}

// Linker's names are those that tools expect: mpi_send_ for mpif.h and mpi, mpi_send_f08ts_ for
// mpi_f08 with choice buffers, _f08_ without, _c_ for large counts, and the same with a p (FTN-10,
// PMP-05).
func TestFTN10_PMP05_NamesOfTheLinker(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for file, names := range map[string]string{
		"mpi_send.c":      "mpi_send_ mpi_send_f08ts_ mpi_send_c_f08ts_",
		"mpi_comm_rank.c": "mpi_comm_rank_ mpi_comm_rank_f08_",
		"mpi_type_size.c": "mpi_type_size_ mpi_type_size_f08_ mpi_type_size_c_f08_",
		"mpi_alloc_mem.c": "mpi_alloc_mem_ mpi_alloc_mem_cptr_ mpi_alloc_mem_f08_",
		"mpi_wtime.c":     "mpi_wtime_ mpi_wtime_f08_",
	} {
		text := string(files[file])
		for _, name := range strings.Fields(names) {
			if !strings.Contains(text, "HALO_ALIAS("+name+", p") || !strings.Contains(text, "p"+name) {
				t.Errorf("%s does not define %s and p%s", file, name, name)
			}
		}
	}
}
