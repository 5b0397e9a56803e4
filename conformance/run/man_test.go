//go:build linux

package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The manual is installed, with a page of each program made from its own help, and man
// finds the pages, also by the names of the forms with large counts. X-DOC-01: each call has a
// page.
func TestManual(t *testing.T) {
	need(t)
	t.Parallel()
	pages := filepath.Join(installed, "share/man")
	for name, says := range map[string]string{
		"man1/halo.1": "measure this machine", "man1/mpiexec.1": "oversubscribe", "man1/mpirun.1": ".so man1/mpiexec.1",
		"man1/mpicc.1": "static", "man1/mpicxx.1": ".so man1/mpicc.1", "man1/mpic++.1": ".so man1/mpicc.1",
		"man3/MPI_Send.3": "send a message", "man3/MPI_Send_c.3": ".so man3/MPI_Send.3", "man3/MPIX_Put_notify.3": "extension",
		"man3/MPI_Comm_spawn.3": "hostfile", "man3/MPI_Comm_accept.3": "timeout", "man3/MPI_Open_port.3": "ip_address",
		"man3/MPI_Comm_c2f.3": "between C and Fortran", "man3/MPI_Comm_f2c.3": ".so man3/MPI_Comm_c2f.3", "man3/MPI_Status_f082c.3": ".so man3/MPI_Status_c2f08.3",
	} {
		text, err := os.ReadFile(filepath.Join(pages, name))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), says) {
			t.Errorf("%s does not say %q", name, says)
		}
	}
	need(t, "man", "groff")
	for _, name := range []string{"MPI_Put_c", "mpirun", "MPI_Win_f2c", "MPI_Status_f2f08"} {
		r := command(t, []string{"MANWIDTH=80", "MAN_KEEP_FORMATTING="}, "man", "--warnings=w", "-M", pages, name)
		if r.status != 0 || r.err != "" || !strings.Contains(r.out, "SEE ALSO") {
			t.Errorf("man %s: status %d\n%s%s", name, r.status, r.out, r.err)
		}
	}
}
