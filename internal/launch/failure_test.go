//go:build unix

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
)

// Promise F5 of security.md: the job ends promptly, and a message names host, rank, pid, signal, the
// last MPI call if it is known, and what to do.
func TestDeathBySignalIsExplained(t *testing.T) {
	host, _ := os.Hostname()
	r := halo(t, 137, "-n", "3", "rank", "init", "exchange", "1@note:Recv on world from 2 tag 7", "1@kill:9", "forever")
	r.said("halo: rank 1 (pid ", "on "+host+")", "killed by signal 9 (SIGKILL", "in Recv on world from 2 tag 7", "see dmesg")
	r = halo(t, 137, "-n", "1", "rank", "init", "note:Recv on world", "torn", "kill:9").said("killed by signal 9")
	if strings.Contains(r.stderr.String(), "Recv") {
		t.Errorf("half a note is believed: %s", r.stderr.String())
	}
	halo(t, 139, "-n", "2", "sh", "-c", "ulimit -c 0; kill -SEGV $$").said("signal 11 (SIGSEGV", "debugger")
}

func TestKilledRankIsBlamedAndNotThoseThatFailWithIt(t *testing.T) {
	for range 10 {
		r := halo(t, 137, "-n", "4", "rank", "init", "exchange", "2@kill:9", "lost", "exit:3")
		r.said("halo: rank 2", "SIGKILL")
	}
}

func TestExitStatusOfTheFirstFailure(t *testing.T) {
	halo(t, 3, "-n", "3", "rank", "init", "exchange", "1@exit:3", "forever").said("rank 1", "exited with status 3")
	halo(t, 4, "-n", "3", "rank", "init", "exchange", "finalize", "1@exit:4").said("rank 1", "exited with status 4")
	// Commands without MPI all run to their end; the failure of the lowest rank counts.
	halo(t, 5, "-n", "3", "rank", "2@exit:6", "1@exit:5", "sleep:20", "print:x").quiet().printed("x")
	halo(t, 2, "-n", "2", "rank", "init", "1@panic", "forever").said("panic: of the test").said("rank 1", "status 2")
}

func TestExitWithoutFinalizeIsAFailure(t *testing.T) {
	halo(t, 1, "-n", "2", "rank", "init", "exchange", "1@exit:0", "forever").said(
		"rank 1", "exited with status 0", "mpi.Init but not mpi.Finalize")
}

// Messages about a program in C use the names of C.
func TestProgramsInCAreToldNamesOfC(t *testing.T) {
	programsInC(t, halo)
	halo(t, 1, "-n", "1", "sh", "-c", rankPath+" initc finalize; "+rankPath+" initc finalize; exit 0").said("one program with MPI_Init per rank")
}

// programsInC checks the messages about programs in C that start starts.
func programsInC(t *testing.T, start func(*testing.T, int, ...string) *run) {
	start(t, 1, "-n", "2", "rank", "initc", "exchange", "1@exit:0", "forever").
		said("rank 1", "exited with status 0", "(it had called MPI_Init but not MPI_Finalize: call it before the program returns)")
	start(t, 1, "-n", "2", "rank", "1@exit:0", "initc", "exchange").
		said("rank 1", "it had not called MPI_Init, and rank 0 waits for it there: all ranks of a job must call MPI_Init")
	start(t, 7, "-n", "2", "rank", "initc", "exchange", "1@abort:7", "forever").said("rank 1", "called MPI_Abort(7); the job was ended")
	const note = "1@note:MPI_Win_complete on Recv to 2" // as such a program notes it
	start(t, 137, "-n", "2", "rank", "initc", "exchange", note, "1@kill:9", "forever").said("rank 1", "in MPI_Win_complete on Recv to 2;")
}

func TestExitBeforeInitIsAFailureOnceOthersWait(t *testing.T) {
	for range 5 {
		halo(t, 1, "-n", "3", "rank", "2@exit:0", "init", "exchange").said("rank 2", "had not called mpi.Init", "waits for it")
	}
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "2", "rank", "1@ready:"+ready, "1@exit:4", "sleep:50", "init", "exchange")
	r.start().wait(4).said("rank 1", "exited with status 4", "had not called mpi.Init")
}

func TestNobodyCallsInit(t *testing.T) {
	halo(t, 0, "-n", "3", "rank", "print:x").quiet().printed("x", "x", "x")
}

func TestAbortEndsTheJobWithItsCode(t *testing.T) {
	halo(t, 7, "-n", "3", "rank", "init", "exchange", "2@abort:7", "forever").said("rank 2", "called Abort(7)", ": of the test")
	halo(t, 0, "-n", "2", "rank", "init", "0@abort:0", "forever").said("rank 0", "Abort(0)")
	halo(t, 1, "-n", "2", "rank", "init", "0@abort:256", "forever").said("rank 0", "Abort(256)")
}

func TestSurvivorsHearThatTheJobIsOver(t *testing.T) {
	halo(t, 3, "-n", "3", "rank", "init", fmt.Sprintf("ignore:%d", syscall.SIGTERM), "exchange", "0@exit:3", "lost").printed("lost", "lost")
}

func TestRanksThatIgnoreSigtermAreKilled(t *testing.T) {
	halo(t, 3, "-n", "3", "rank", "init", fmt.Sprintf("ignore:%d", syscall.SIGTERM), "exchange", "0@exit:3", "forever")
	halo(t, 3, "-n", "3", "rank", "init", "exchange", "0@exit:3", fmt.Sprintf("kill:%d", syscall.SIGSTOP))
}

// endedAtTimeout returns an ended run whose timeout was long enough for ranks to end that end by themselves, and
// checks what it says. On a busy machine that may take long, so that it retries with longer timeouts.
func endedAtTimeout(says string, prepare func(timeout string) *run) *run {
	for timeout := 300 * time.Millisecond; ; timeout *= 2 {
		r := prepare(timeout.String()).start().wait(124)
		if strings.Contains(r.stderr.String(), says) || timeout > hangs/4 {
			return r.said(timeout.String(), says)
		}
	}
}

func TestTimeout(t *testing.T) {
	endedAtTimeout("still running: ranks 0, 2", func(timeout string) *run {
		return newRun(t, "-n", "3", "-timeout", timeout, "rank", "1@exit:0", "forever")
	})
	halo(t, 0, "-n", "2", "-timeout", "1h", "rank", "print:x").quiet()
}

// The message names what limits the job: who has set a variable once looks for no option.
func TestTimeoutByTheEnvironment(t *testing.T) {
	endedAtTimeout("still running: rank 0", func(timeout string) *run {
		r := newRun(t, "-n", "2", "rank", "1@exit:0", "forever")
		r.cmd.Env = append(r.cmd.Env, "MPIEXEC_TIMEOUT="+timeout)
		return r
	}).said("did not end within MPIEXEC_TIMEOUT=")
	r := newRun(t, "-n", "2", "-timeout", "300ms", "rank", "forever")
	r.cmd.Env = append(r.cmd.Env, "MPIEXEC_TIMEOUT=1h")
	r.start().wait(124).said("did not end within -timeout 300ms")
}

func TestVersionMismatchIsExplainedOnBothSides(t *testing.T) {
	// A program of another version sends Hello, and reads why it was refused.
	hello := `\013\000\000\000\001HALO\001\000\001\000\001\000`
	r := halo(t, 126, "-n", "1", "bash", "-c", `printf '`+hello+`' >&$HALO_BOOT_FD; head -c 150 <&$HALO_BOOT_FD; sleep 5`)
	r.said("halo: rank 0", "cannot join the job", "different versions of Halo", "program: of unknown version, launcher protocol 1", "launcher: "+boot.Build()+", launcher protocol 7")
	if !strings.Contains(r.stdout.String(), "different versions") {
		t.Errorf("the program was told %q", r.stdout.String())
	}
}

func TestGarbageOnTheLinkEndsTheJob(t *testing.T) {
	halo(t, 1, "-n", "2", "sh", "-c", `echo "GET / HTTP/1.0" >&3; sleep 10`).said("broke the protocol", "limit is")
}

func TestSecondProgramInARankIsRefused(t *testing.T) {
	halo(t, 1, "-n", "1", "sh", "-c", rankPath+" init finalize; "+rankPath+" init finalize; exit 0").said("one program with mpi.Init per rank")
}

func TestProgramNotFound(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	halo(t, 127, "-n", "2", "no-such-program-here").said("no-such-program-here", "not found", "PATH")
	halo(t, 127, "./no-such-program").said("./no-such-program", "no such file")
	halo(t, 127, "-path", "/a:/b", "no-such-program").said("-path /a:/b")
	halo(t, 126, file).said("cannot be executed", "chmod")
	halo(t, 126, dir).said("directory without Go files")
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	halo(t, 126, "-n", "2", file).said("cannot start rank 0", "#!")
	if err := os.WriteFile(file, []byte("#!/no/such/shell\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	halo(t, 126, "-n", "2", file).said("cannot start rank 0", "interpreter")
}

func TestWrongCommandLine(t *testing.T) {
	halo(t, 2).said("no program given", "halo run -help")
	halo(t, 2, "-n", "0", "x").said("-n", "1 to 65536")
}
