package fortran

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/abi"
)

// inC reports whether a procedure is only in C: those for tools, conversions of handles and statuses, and
// extensions that the Fortran library itself calls.
func inC(name string) bool {
	for _, suffix := range []string{"_toint", "_fromint", "_c2f", "_f2c", "_x", "_as_fortran", "_add_hooks"} {
		if strings.HasSuffix(name, suffix) && name != "MPI_Get_elements_x" && name != "MPI_Status_set_elements_x" && !strings.HasPrefix(name, "MPI_Type_") {
			return true
		}
	}
	return strings.HasPrefix(name, "MPI_T_") || strings.HasPrefix(name, "MPI_Type_") && (strings.HasSuffix(name, "_toint") || strings.HasSuffix(name, "_fromint"))
}

// Every procedure of C is in Fortran, except those of inC and two aliases for headers other than Halo's.
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

// The linker's names are those that tools expect: mpi_send_ for mpif.h and mpi, mpi_send_f08ts_ for
// mpi_f08 with choice buffers, _f08_ without them, _c_ for large counts, and the same names after a p
// (FTN-10, PMP-05).
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

// Buffers that a call uses after it has returned are ASYNCHRONOUS in mpi_f08: those of calls with a request, of
// one-sided and split operations, and of calls that attach memory. Others are not, so that expressions and vector
// subscripts can be passed (FTN-05).
func TestFTN05_BuffersOfOperationsInProgressAreAsynchronous(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	after := regexp.MustCompile(`(?i)^P?MPIX?_(Put|Get|Accumulate|Get_accumulate|Fetch_and_op|Compare_and_swap)(_notify)?(_c)?$|_(begin|end)(_c)?$|^P?MPI_(Get_address|F_sync_reg|Free_mem)$` +
		`|attach|_Win_(create|detach|change)|Memhandle_create`)
	subroutine := regexp.MustCompile(`(?s)SUBROUTINE (\w+)_f08ts\((.*?)END SUBROUTINE`)
	all := subroutine.FindAllStringSubmatch(string(files["mpi_f08.f90"]), -1)
	if len(all) < 300 {
		t.Fatalf("%d procedures with buffers", len(all))
	}
	for _, m := range all {
		name, body := m[1], m[2]
		want := strings.Contains(body, "TYPE(MPI_Request), INTENT(OUT)") || after.MatchString(name)
		for line := range strings.Lines(body) {
			if strings.Contains(line, "TYPE(*), DIMENSION(..)") && !strings.HasSuffix(strings.TrimSpace(line), ":: memhandle") && strings.Contains(line, "ASYNCHRONOUS") != want {
				t.Errorf("%s: %s", name, strings.TrimSpace(line))
			}
		}
	}
	// Buffers of calls that receive are not INTENT(IN).
	for _, name := range []string{"MPI_Recv", "MPI_Irecv", "MPI_Precv_init", "MPI_Get", "MPI_Bcast", "MPI_Recv_init"} {
		i := slices.IndexFunc(all, func(m []string) bool { return m[1] == name })
		if i < 0 || strings.Contains(all[i][2], "DIMENSION(..), INTENT(IN)") {
			t.Errorf("%s stores in a buffer that is INTENT(IN)", name)
		}
	}
}
