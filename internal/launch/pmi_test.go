//go:build linux

package launch

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// PMI-1 from the launcher: X-LCH-01.

// steps are the steps of a rank that talks PMI-1: init, these, finalize.
func pmiSteps(steps ...string) []string {
	return append(append([]string{"rank", "quietpmi:init pmi_version=1 pmi_subversion=1"}, steps...), "quietpmi:finalize")
}

// exchangesPMI puts a value, and prints that of another rank.
func exchangesPMI(peer int) []string {
	return pmiSteps("quietpmi:put key=at-%R value=rank%R", "quietpmi:barrier_in", fmt.Sprintf("pmi:get key=at-%d", peer))
}

// X-LCH-01: programs that speak PMI-1 are ranks of the job, on one host and on several.
func TestPMIWorld(t *testing.T) {
	t.Parallel()
	want := []string{}
	for i := range 4 {
		want = append(want, fmt.Sprintf("%d cmd=get_result rc=0 msg=success value=rank3", i))
	}
	halo(t, 0, append([]string{"-n", "4"}, exchangesPMI(3)...)...).quiet().printed(want...)
	farRun(t, 0, append([]string{"-host", "a,b:2,c", "-n", "4"}, exchangesPMI(3)...)...).quiet().printed(want...)
}

// X-LCH-01: size, block and hosts of the ranks are those of the command line.
func TestPMIPlaces(t *testing.T) {
	t.Parallel()
	asks := pmiSteps("pmi:get_universe_size", "pmi:get_appnum", "0@pmi:get key=PMI_process_mapping")
	line := append(append([]string{"-host", "a:2,b:2", "-n", "1"}, asks...), append([]string{":", "-n", "3"}, asks...)...)
	farRun(t, 0, line...).quiet().printed(
		"0 cmd=universe_size size=4 rc=0", "1 cmd=universe_size size=4 rc=0", "2 cmd=universe_size size=4 rc=0", "3 cmd=universe_size size=4 rc=0",
		"0 cmd=appnum appnum=0 rc=0", "1 cmd=appnum appnum=1 rc=0", "2 cmd=appnum appnum=1 rc=0", "3 cmd=appnum appnum=1 rc=0",
		"0 cmd=get_result rc=0 msg=success value=(vector,(0,2,2))")
	env := halo(t, 0, "-n", "3", "rank", "env:PMI_RANK", "env:PMI_SIZE", "env:MPI_LOCALRANKID", "env:MPI_LOCALNRANKS", "env:PMI_SPAWNED")
	env.printed("PMI_RANK=0", "PMI_RANK=1", "PMI_RANK=2", "PMI_SIZE=3", "PMI_SIZE=3", "PMI_SIZE=3",
		"MPI_LOCALRANKID=0", "MPI_LOCALRANKID=1", "MPI_LOCALRANKID=2", "MPI_LOCALNRANKS=3", "MPI_LOCALNRANKS=3", "MPI_LOCALNRANKS=3",
		"PMI_SPAWNED=", "PMI_SPAWNED=", "PMI_SPAWNED=")
}

// X-LCH-01: names of services are known to the ranks of all hosts.
func TestPMINames(t *testing.T) {
	t.Parallel()
	steps := pmiSteps("0@quietpmi:publish_name service=s port=p", "0@pmi:publish_name service=s port=q", "quietpmi:barrier_in",
		"1@pmi:lookup_name service=s", "1@pmi:lookup_name service=t", "quietpmi:barrier_in", "1@quietpmi:unpublish_name service=s",
		"quietpmi:barrier_in", "0@pmi:lookup_name service=s", "0@pmi:unpublish_name service=s")
	want := []string{
		"0 cmd=publish_result rc=-1 msg=the_service_has_been_published",
		"1 cmd=lookup_result rc=0 port=p",
		"1 cmd=lookup_result rc=-1 msg=the_service_has_not_been_published",
		"0 cmd=lookup_result rc=-1 msg=the_service_has_not_been_published",
		"0 cmd=unpublish_result rc=-1 msg=the_service_has_not_been_published",
	}
	halo(t, 0, append([]string{"-n", "2"}, steps...)...).quiet().printed(want...)
	farRun(t, 0, append([]string{"-host", "a,b", "-n", "2"}, steps...)...).quiet().printed(want...)
}

// F4: the end of a program that speaks PMI-1 means the same as that of one of Halo.
func TestPMIEnds(t *testing.T) {
	t.Parallel()
	joins := []string{"rank", "quietpmi:init pmi_version=1 pmi_subversion=1"}
	run := func(status int, steps ...string) *run {
		t.Helper()
		return halo(t, status, append(append([]string{"-n", "2"}, joins...), steps...)...)
	}
	run(7, "1@quietpmi:abort exitcode=7", "forever").said("rank 1 ", "called MPI_Abort(7)")
	run(137, "1@kill:9", "quietpmi:barrier_in").said("rank 1 ", "was killed by signal 9")
	run(1, "1@exit:0", "quietpmi:barrier_in").said("rank 1 ", "it had called MPI_Init but not MPI_Finalize")
	run(3, "quietpmi:finalize", "1@exit:3", "forever").said("rank 1 ", "exited with status 3")
	halo(t, 1, append(append([]string{"-n", "2", "rank", "0@exit:0"}, joins[1:]...), "quietpmi:barrier_in")...).said("rank 0 ", "had not called MPI_Init", "rank 1 waits")
	farRun(t, 7, append(append([]string{"-host", "a,b", "-n", "2"}, joins...), "1@quietpmi:abort exitcode=7", "quietpmi:barrier_in")...).said("rank 1 ", "called MPI_Abort(7)")
	// A rank that has finalized will enter no barrier.
	run(0, "1@quietpmi:finalize", "1@exit:0", "0@pmi:barrier_in", "0@quietpmi:finalize").
		printed("0 cmd=barrier_out rc=-1 msg=boot:_no_Exchange_can_complete:_rank_1_has_called_Finalize")
}

// S5: a program that sends anything else than PMI-1 ends its job, and nothing else.
func TestPMIHostile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cmd=" + strings.Repeat("x", 10000):  "more than 8192 bytes",
		"cmd=init pmi_version=1\nnonsense\n": `no message: "nonsense"`,
	} {
		halo(t, 1, "-n", "2", "rank", "1@raw:"+text, "forever").said("rank 1 ", "broke the protocol of the launcher", want)
	}
}

// X-LCH-01: a job whose ranks use different implementations of MPI ends with the names of both.
func TestPMIAndHaloDoNotMix(t *testing.T) {
	t.Parallel()
	pmi := []string{"rank", "quietpmi:init pmi_version=1 pmi_subversion=1", "quietpmi:barrier_in"}
	ours := []string{"rank", "init", "exchange"}
	for _, x := range [][2][]string{{pmi, ours}, {ours, pmi}} {
		line := append(append([]string{"-n", "1"}, x[0]...), append([]string{":", "-n", "1"}, x[1]...)...)
		halo(t, 126, line...).said("is a program of Halo, and rank", "one of another MPI", "one library of MPI for all ranks")
	}
}

// X-LCH-01: programs that a rank of Halo starts are not in its job by PMI-1 either.
func TestPMIIsNotInherited(t *testing.T) {
	t.Parallel()
	halo(t, 0, "-n", "2", "rank", "init", "exchange", "0@child:env:PMI_FD env:PMI_RANK env:PMI_SIZE", "finalize").quiet().
		printed("PMI_FD=", "PMI_RANK=", "PMI_SIZE=")
}

// mpich compiles testdata/mpich/world.c with MPICH once.
var mpich = sync.OnceValues(func() (string, error) {
	program := filepath.Join(filepath.Dir(haloPath), "world")
	out, err := exec.Command("mpicc.mpich", "-o", program, "testdata/mpich/world.c").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("mpicc.mpich: %w: %s", err, out)
	}
	return program, err
})

// mpichWorld is a program of MPICH.
func mpichWorld(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("mpicc.mpich"); err != nil {
		t.Skip("MPICH is missing (package libmpich-dev)")
	}
	program, err := mpich()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// X-LCH-01: programs of MPICH, unmodified, are one world under this launcher.
func TestMPICHWorld(t *testing.T) {
	t.Parallel()
	world := mpichWorld(t)
	var want []string
	for i := range 4 {
		want = append(want, fmt.Sprintf("rank %d of 4 app 0 with 4 on the node", i))
	}
	halo(t, 0, "-n", "4", world, "names").quiet().printed(want...)
	halo(t, 0, "-n", "1", world, ":", "-n", "2", world, ":", "-n", "1", world).quiet().printed(
		"rank 0 of 4 app 0 with 4 on the node", "rank 1 of 4 app 1 with 4 on the node", "rank 2 of 4 app 1 with 4 on the node", "rank 3 of 4 app 2 with 4 on the node")
	in := newRun(t, "-n", "2", world, "cat")
	in.cmd.Stdin = strings.NewReader("hello\n")
	in.start().wait(0).quiet().printed("rank 0 of 2 app 0 with 2 on the node", "rank 1 of 2 app 0 with 2 on the node", "hello")
}

// F4: the end of a rank of MPICH ends the job, with its status.
func TestMPICHEnds(t *testing.T) {
	t.Parallel()
	world := mpichWorld(t)
	halo(t, 7, "-n", "3", world, "abort").said("rank 2 ", "called MPI_Abort(7)")
	halo(t, 137, "-n", "3", world, "kill").said("rank 2 ", "was killed by signal 9")
}
