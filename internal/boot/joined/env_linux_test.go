package joined

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/sys"
)

// startRanks is a shell script that starts n processes that find each other by themselves, with ranks from first
// on. Its status is that of a process that failed, and 100 more than the number of those that were killed.
const startRanks = `n=$1; first=$2; shift 2; pids=
for r in $(seq $first $((first+n-1))); do env $RANK=$r "$@" & pids="$pids $!"; done
status=0; killed=0
for p in $pids; do wait $p; s=$?; if [ $s -gt 128 ]; then killed=$((killed+1)); elif [ $s -ne 0 ]; then status=$s; fi; done
[ $killed -gt 0 ] && status=$((100+killed))
exit $status`

// ports numbers the addresses of tests, so that they do not meet.
type ports struct{ n atomic.Int32 }

// next is a port below those that the kernel gives to connections.
func (p *ports) next() int { return 21000 + os.Getpid()%1400*8 + int(p.n.Add(1)) }

// environ returns the variables of a job of size processes.
func environ(size int, addr string, more ...string) []string {
	return append([]string{"RANK=" + envRank, fmt.Sprint(envSize, "=", size), envAddr + "=" + addr}, more...)
}

// ranks runs n of the processes of a job, with ranks from first on.
func ranks(t *testing.T, env []string, n, first int, args ...string) outcome {
	t.Helper()
	return runs(t, env, append([]string{"bash", "-c", startRanks, "bash", fmt.Sprint(n), fmt.Sprint(first)}, args...)...)
}

// secretFile makes a file with a secret.
func secretFile(t *testing.T, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(strings.Repeat("secret", 5)), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// outside returns an address of this host that others reach.
func outside(t *testing.T) string {
	t.Helper()
	own, err := sys.Addresses()
	if err != nil {
		t.Fatal(err)
	}
	if best(own) == nil {
		t.Skip("this host has no address but loopback")
	}
	return address.IP(best(own)).String()
}

// Ranks find each other on one host by its loopback address, and then share memory.
func TestXLCH01_RanksFindEachOther(t *testing.T) {
	var p ports
	at := func() string { return fmt.Sprint("127.0.0.1:", p.next()) }
	ranks(t, environ(4, at()), 4, 0, program("rank"), "all").wants(0, "rank 3 of 4, 4 on its node, sum 6, app -1, universe -1")
	ranks(t, environ(4, at(), envLocal+"=2"), 4, 0, program("rank"), "all").wants(0, "rank 3 of 4, 2 on its node, sum 6")
	ranks(t, append(environ(3, at()), "RANK="+envIndex), 3, 0, program("rank"), "all").wants(0, "rank 2 of 3, 3 on its node, sum 3")
	ranks(t, environ(1, at()), 1, 0, program("rank"), "all").wants(0, "rank 0 of 1, 1 on its node, sum 0")
	ranks(t, environ(4, at()), 4, 0, program("session"), "some", t.TempDir()).wants(0)
	ranks(t, environ(4, at(), envLocal+"=2"), 4, 0, program("session"), "some", t.TempDir()).wants(0)
}

// Off loopback they prove that they know a secret.
func TestXLCH01_RanksProveASecret(t *testing.T) {
	var p ports
	at := fmt.Sprint(outside(t), ":", p.next())
	ranks(t, environ(3, at, envSecret+"="+secretFile(t, 0o600)), 3, 0, program("rank"), "all").wants(0, "rank 2 of 3, 1 on its node, sum 3")
	ranks(t, environ(2, at), 2, 0, program("rank"), "all").wants(1, "there is no secret", "HALO_SECRET_FILE")
	ranks(t, environ(2, at, envSecret+"="+secretFile(t, 0o644)), 2, 0, program("rank"), "all").wants(1, "its mode is 0644", "want 0600")
	ranks(t, environ(2, at, envSecret+"=/nowhere"), 2, 0, program("rank"), "all").wants(1, "HALO_SECRET_FILE=/nowhere")
}

// The death of a rank ends the others, and one line says who has died; an abort ends them with its code.
func TestF5_DeathWithoutAnEngine(t *testing.T) {
	var p ports
	for _, more := range []string{"HALO_FABRIC=shm", envLocal + "=2"} {
		for _, victim := range []string{"0", "3"} {
			o := ranks(t, environ(4, fmt.Sprint("127.0.0.1:", p.next()), more), 4, 0, program("rank"), "die", victim).wants(101)
			o.has("is lost", "the job was ended")
		}
		ranks(t, environ(4, fmt.Sprint("127.0.0.1:", p.next()), more), 4, 0, program("rank"), "abort").has("rank 3 (pid ", "called Abort(7)")
		ranks(t, environ(4, fmt.Sprint("127.0.0.1:", p.next()), more), 4, 0, program("rank"), "leave").wants(1, "the job was ended")
	}
}

// What goes wrong is said with rank, address and cure.
func TestXLCH01_RanksThatDoNotFindEachOther(t *testing.T) {
	var p ports
	at := fmt.Sprint("127.0.0.1:", p.next())
	soon := envTimeout + "=1500ms"
	ranks(t, environ(4, at, soon), 2, 0, program("rank"), "all").wants(1, "ranks 2, 3 of 4 have not joined within 1.5s: start all ranks")
	ranks(t, environ(4, at, soon, envLocal+"=2"), 2, 0, program("rank"), "all").wants(1, "ranks 2-3 of 4 have not joined within 1.5s: start all ranks")
	ranks(t, environ(4, at, soon), 1, 2, program("rank"), "all").wants(1, "rank 2 of 4", "has not reached rank 0 at HALO_ADDR="+at+" within 1.5s", "HALO_JOIN_TIMEOUT")
	ranks(t, environ(2, at, soon), 1, 2, program("rank"), "all").wants(1, "rank 2 of 2 is no place in a job")
	ranks(t, environ(2, "nowhere", soon), 1, 0, program("rank"), "all").wants(1, "HALO_ADDR=nowhere: want HOST:PORT")
	ranks(t, environ(2, at, "RANK=NOBODY"), 1, 0, program("rank"), "all").wants(1, "needs the rank, in HALO_RANK or JOB_COMPLETION_INDEX")
	far := environ(2, "no-such-host.invalid:1", soon, envSecret+"="+secretFile(t, 0o600))
	ranks(t, far, 1, 1, program("rank"), "all").wants(1, "rank 1 of 2", `the name "no-such-host.invalid" has no address`)
	// Two jobs share an address: the second one ends, and says so.
	runs(t, environ(2, at, "HALO_RANK=0"), "bash", "-c", `"$@" & first=$!; until grep -q "@halo-env-.*-${HALO_ADDR#*:}$" /proc/net/unix; do :; done
"$@"; second=$?; kill $first; wait $first; exit $second`, "bash", program("rank"), "all").
		wants(1, "rank 0 of 2 cannot listen at "+at, "another process has the name", "choose another port")
	runs(t, environ(4, at, soon), "bash", "-c", `HALO_RANK=0 "$@" & HALO_RANK=1 HALO_SIZE=2 "$@"; s=$?; wait; exit $s`, "bash", program("rank"), "all").
		wants(1, "the job of rank 0 has 4 processes, this one says 2: two jobs share an address")
	runs(t, environ(4, at, soon), "bash", "-c", `HALO_RANK=0 "$@" & HALO_RANK=1 "$@" & HALO_RANK=1 "$@"; s=$?; wait; exit $s`, "bash", program("rank"), "all").
		has("rank 1 has joined already: two jobs share an address, two processes have the same rank, or a process was started again")
}
