//go:build linux

package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ends is a program whose last rank ends it while the others wait.
const ends = `PROGRAM ends
  USE mpi_f08
  IMPLICIT NONE
  INTEGER :: rank, size, token
  CHARACTER(LEN=10) :: how
  CALL MPI_Init()
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size)
  CALL GET_COMMAND_ARGUMENT(1, how)
  IF (rank == size - 1) THEN
    IF (how == 'abort') CALL MPI_Abort(MPI_COMM_WORLD, 7)
    IF (how == 'error') CALL MPI_Send(rank, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD)
    IF (how == 'stop') ERROR STOP 9
  END IF
  CALL MPI_Recv(token, 1, MPI_INTEGER, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  PRINT '(A)', 'not reached'
END PROGRAM ends
`

// MPI_ABORT, an error by the default handler and ERROR STOP end all processes, with a status and a reason
// (ENV-07).
func TestENV07_FortranEndsAllProcesses(t *testing.T) {
	needFortran(t)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "ends.f90"), filepath.Join(dir, "ends")
	if err := os.WriteFile(source, []byte(ends), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(bin("mpifort"), "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		how    string
		status int
		says   string
	}{
		{"abort", 7, "called MPI_Abort(7)"},
		{"error", 6, "MPI_Send on MPI_COMM_WORLD to 3 tag 0"},
		{"stop", 9, "exited with status 9"},
	} {
		r := launched(t, "shm", 3, nil, program, c.how)
		if r.status != c.status || r.out != "" || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: status %d\n%s%s", c.how, r.status, r.out, r.err)
		}
	}
}
