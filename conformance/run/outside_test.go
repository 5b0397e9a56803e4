//go:build linux

package run

import (
	"regexp"
	"strings"
	"testing"
)

// Calls that the standard allows before MPI_Init and after MPI_Finalize work there; any other call
// prints its name and whether it is too early or late, and ends the process, or returns an error if
// the first error handler does (section 11.4.1).
func TestCallsOutside(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "outside"}})["outside"]
	if r := command(t, nil, program); r.status != 0 || r.out+r.err != "" {
		t.Errorf("what is allowed: status %d\n%s%s", r.status, r.out, r.err)
	}
	if r := launched(t, "shm", 2, nil, program); r.status != 0 || r.out+r.err != "" {
		t.Errorf("what is allowed, in a job: status %d\n%s%s", r.status, r.out, r.err)
	}
	calls := []string{
		"MPI_Comm_rank", "MPI_Comm_size", "MPI_Send", "MPI_Irecv", "MPI_Wait", "MPI_Barrier", "MPI_Allreduce", "MPI_Comm_dup",
		"MPI_Comm_set_errhandler", "MPI_Type_contiguous", "MPI_Type_size", "MPI_Type_free", "MPI_Op_create", "MPI_Group_size",
		"MPI_Win_fence", "MPI_Win_flush", "MPI_Put", "MPI_Alloc_mem", "MPI_Cart_create", "MPI_Query_thread", "MPI_Finalize", "MPIX_Win_order",
	}
	for when, says := range map[string]string{"before": "before MPI_Init", "after": "after MPI_Finalize"} {
		for _, call := range calls {
			r := command(t, nil, program, when, call)
			if r.status == 0 || r.out != "" || !strings.Contains(r.err, call+": called "+says) || strings.Count(r.err, "\n") != 1 {
				t.Errorf("%s %s: status %d\n%s%s", when, call, r.status, r.out, r.err)
			}
			r = command(t, []string{"HALO_INITIAL_ERRHANDLER=mpi_errors_return"}, program, when, call)
			if r.status != 0 || r.out+r.err != "" {
				t.Errorf("%s %s, where errors return: status %d\n%s%s", when, call, r.status, r.out, r.err)
			}
		}
	}
	r := command(t, nil, program, "after", "MPI_Init")
	if r.status == 0 || !regexp.MustCompile(`Init: .*once`).MatchString(r.err) {
		t.Errorf("a second MPI_Init: status %d\n%s%s", r.status, r.out, r.err)
	}
}

// MPI_Finalize with requests that are not complete is fatal by default, and says of which kind
// they are.
func TestFinalizeWithPendingRequests(t *testing.T) {
	need(t)
	t.Parallel()
	program := programs(t, []entry{{name: "finalize_pending"}})["finalize_pending"]
	for what, says := range map[string]string{
		"receive": "2 receives are still posted", "long_send": "1 send is not complete", "message": "1 message of a matched probe is not received",
	} {
		for _, fabric := range []string{"shm", "tcp"} {
			r := launched(t, fabric, 2, nil, program, "fatal", what)
			if r.status == 0 || !strings.Contains(r.err, "Finalize") || !strings.Contains(r.err, says) || !strings.Contains(r.err, "MPI_ERR_PENDING") {
				t.Errorf("%s over %s: status %d\n%s%s", what, fabric, r.status, r.out, r.err)
			}
		}
	}
}
