//go:build linux

package run

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// other is a program for a library that has no extensions.
const other = `PROGRAM other
  USE mpi_f08
  IMPLICIT NONE
  INTEGER, ASYNCHRONOUS :: a(8), b(4)
  INTEGER :: code, i
  TYPE(MPI_Request) :: r
  TYPE(MPI_Status) :: s
  CALL MPI_Init()
  CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  a = [(i, i = 1, 8)]
  ! Sections in blocking calls, and in those that a datatype describes.
  CALL MPI_Allreduce(a(::2), b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
  IF (ANY(b /= [1, 3, 5, 7])) ERROR STOP 1
  CALL MPI_Irecv(a(2::2), 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r)
  CALL MPI_Send(a(7:1:-2), 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  CALL MPI_Wait(r, s)
  IF (ANY(a /= [1, 7, 3, 5, 5, 3, 7, 1])) ERROR STOP 2
  ! A copy that the operation would have to give back.
  r = MPI_REQUEST_NULL
  CALL MPI_Iallreduce(a(::2), b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, r, code)
  IF (code /= MPI_ERR_BUFFER .OR. r /= MPI_REQUEST_NULL) ERROR STOP 3
  CALL MPIX_Rflush(0, MPI_WIN_NULL, r, code)
  IF (code /= MPI_ERR_UNSUPPORTED_OPERATION) ERROR STOP 4
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM other
`

// The Fortran library runs over a library that has what the standard has, and nothing more: operations, error
// handlers and attributes work, and what does not is the error that docs/fortran.md names.
func TestFortranOverAnotherLibrary(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	library, err := os.ReadFile(filepath.Join(installed, "lib", "libmpi_abi.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		t.Fatal(err)
	}
	// Nothing finds a symbol that has another name than the one by which it is hashed.
	names := f.Section(".dynstr")
	text := library[names.Offset : names.Offset+names.Size]
	found := 0
	for _, prefix := range []string{"\x00MPIX_", "\x00PMPIX_"} {
		found += bytes.Count(text, []byte(prefix))
		copy(text, bytes.ReplaceAll(text, []byte(prefix), []byte(prefix[:len(prefix)-2]+"Y_")))
	}
	if found == 0 {
		t.Fatal("the library has no extensions")
	}
	if err := os.WriteFile(filepath.Join(dir, "libmpi_abi.so.1"), library, 0o755); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "other.f90")
	if err := os.WriteFile(source, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"other":       {source},
		"callbacks":   {"-DMETHOD_F08", "-cpp", "-I../fortran", "../fortran/callbacks.F90"},
		"generalized": {"-DMETHOD_F08", "-cpp", "-I../fortran", "../fortran/generalized.F90"},
		"keywords":    {"-DMETHOD_F08", "-cpp", "-I../fortran", "../fortran/keywords.F90"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(dir, name)
			if out, err := exec.Command(bin("mpifort"), append([]string{"-J", t.TempDir(), "-o", program}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if r := launched(t, "shm", 1, []string{"LD_LIBRARY_PATH=" + dir}, program); r != (result{out: "no errors\n"}) {
				t.Errorf("%+v", r)
			}
		})
	}
}
