package launch

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
)

// hasC reports whether the launcher under test is built with C code, which checks its descriptors
// and limits before Go's runtime starts.
func hasC(t *testing.T) bool {
	info, err := buildinfo.ReadFile(haloPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" {
			return s.Value == "1"
		}
	}
	return false
}

// through makes a shell start the launcher: "$0" "$@" in script is its command line.
func (r *run) through(script string) *run {
	r.cmd.Args = append([]string{"sh", "-c", script, haloPath}, r.cmd.Args[1:]...)
	r.cmd.Path = "/bin/sh"
	return r
}

// The launcher fails if output is lost, also if a descriptor was closed from the start.
func TestLostOutputIsAFailure(t *testing.T) {
	if !hasC(t) {
		t.Skip("the launcher is built without C: Go's runtime hides that a descriptor is closed")
	}
	newRun(t, "-n", "2", "echo", "x").through(`exec "$0" "$@" >&-`).start().wait(125).said("cannot be written, and is lost: it was closed when the launcher was started")
	newRun(t, "-n", "2", "true").through(`exec "$0" "$@" >&-`).start().wait(0).quiet()
	newRun(t, "-n", "2", "sh", "-c", "echo x >&2; echo y").through(`exec "$0" "$@" 2>&-`).start().wait(125).printed("y", "y")
	newRun(t, "-n", "2", "echo", "x").through(`exec "$0" "$@" 2>&-`).start().wait(0).printed("x", "x")
	newRun(t, "-n", "2", "echo", "x").through(`exec "$0" "$@" >/dev/null`).start().wait(0).quiet()
	newRun(t, "-n", "2", "echo", "x").through(`exec "$0" "$@" >&- 2>/dev/null`).start().wait(125)
	newRun(t, "-n", "2", "cat").through(`exec "$0" "$@" <&-`).start().wait(0).quiet()
}

// The launcher names a limit because of which Go's runtime would end it with traces.
func TestLimitsOfTheLauncherAreNamed(t *testing.T) {
	testrun.PlainOnly(t, "it reserves more than any limit")
	if !hasC(t) {
		t.Skip("needs a launcher with C")
	}
	for _, kib := range []string{"200000", "1000000", "1500000"} {
		r := newRun(t, "-n", "2", "rank", "init").through(`ulimit -v ` + kib + `; exec "$0" "$@"`).start().wait(125)
		r.said("halo: too little address space: "+kib+" KiB are allowed (ulimit -v)", "and each rank more")
		if strings.Contains(r.stderr.String(), "goroutine") {
			t.Error(r.stderr.String())
		}
	}
	group := newGroup(t, 4)
	r := newRun(t, "-n", "2", "true").through(`echo $$ >` + group + `/cgroup.procs; exec "$0" "$@"`).start().wait(125)
	r.said("halo: too few processes and threads are allowed: the launcher needs some 8 threads and got ", "pids.max")
	if strings.Contains(r.stderr.String(), "goroutine") {
		t.Error(r.stderr.String())
	}
}

// newGroup makes a control group of at most n processes and threads.
func newGroup(t *testing.T, n int) string {
	t.Helper()
	root := "/sys/fs/cgroup/pids"
	if _, err := os.Stat(root); err != nil {
		root = "/sys/fs/cgroup"
	}
	dir, err := os.MkdirTemp(root, "halo-test-")
	if err == nil {
		t.Cleanup(func() { os.Remove(dir) })
		err = os.WriteFile(filepath.Join(dir, "pids.max"), []byte(fmt.Sprint(n)), 0o600)
	}
	if err != nil {
		t.Skip("no control group for processes can be made here:", err)
	}
	return dir
}

// The launcher explains the end of a rank that Go's runtime has ended because of a limit, after the
// traces. It explains at once why a rank cannot be started.
func TestLimitsOfRanksAreNamed(t *testing.T) {
	for line, want := range map[string]string{
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable":                 "the Go runtime of rank 1 could not make a thread: ",
		"runtime: failed to create new OS thread (have 5 already; errno=11)":                   "the Go runtime of rank 1 could not make a thread: ",
		"fatal error: failed to reserve page summary memory\n\nruntime stack:":                 "the Go runtime of rank 1 did not get the address space that it needs: ",
		"runtime: out of memory: cannot allocate 4194304-byte block (0 in use)\nfatal error: ": "the Go runtime of rank 1 did not get the address space that it needs: ",
	} {
		r := newRun(t, "-n", "2", "sh", "-c", `test $HALO_RANK = 0 || { printf '`+line+`\n' >&2; exit 2; }`)
		r.through(`ulimit -c 0; exec "$0" "$@"`).start().wait(2).said("halo: " + want)
	}
	halo(t, 0, "-n", "1", "sh", "-c", "echo runtime/cgo: pthread_create failed >&2").said("pthread_create")
	group := newGroup(t, 24)
	r := newRun(t, "-n", "40", "sleep", "100").through(`echo $$ >` + group + `/cgroup.procs; exec "$0" "$@"`).start()
	r.wait(126).said("halo: cannot start rank ", "sleep: resource temporarily unavailable: too many processes and threads, the control group allows 24 processes and threads (pids.max)")
}

// The ranks may use up the processes and threads that are allowed: the launcher and its warden have
// made their threads before, so Go's runtime never ends them.
func TestRanksThatUseUpTheLimitOfThreads(t *testing.T) {
	for n := 9; n <= 28; n++ {
		group := newGroup(t, n)
		r := newRun(t, "-n", "40", "sleep", "100").through(`echo $$ >` + group + `/cgroup.procs; exec "$0" "$@"`).start()
		<-r.ended
		if r.status != 125 && r.status != 126 {
			t.Errorf("%d are allowed: status %d", n, r.status)
		}
		r.said("pids.max")
		if strings.Contains(r.stderr.String(), "goroutine") {
			t.Errorf("%d are allowed: %s", n, r.stderr.String())
		}
	}
}

// A Go rank with too little address space is explained: by the launcher if Go's runtime ends the
// rank, otherwise by the rank itself.
func TestAddressSpaceOfGoRanksIsNamed(t *testing.T) {
	testrun.PlainOnly(t, "it reserves more than any limit")
	for _, kib := range []int{150000, 300000, 600000, 800000, 1000000, 1200000, 1500000} {
		r := newRun(t, "-n", "2", "sh", "-c", fmt.Sprintf(`ulimit -c 0; ulimit -v %d; exec %s barrier`, kib, hangPath)).start()
		<-r.ended
		if r.status == 0 {
			t.Logf("%d KiB are enough", kib)
			continue
		}
		text := r.stderr.String()
		// Only the rank itself knows its limit.
		launcher := regexp.MustCompile(`(?m)^halo: .*Go runtime .*address space that it needs: .*\(ulimit -v\)`).MatchString(text)
		itself := strings.Contains(text, fmt.Sprintf("cannot allocate memory: this process may map %d KiB (ulimit -v)", kib))
		if !launcher && !itself {
			t.Errorf("%d KiB: status %d, nothing names the limit\n%s", kib, r.status, text)
		}
	}
}

// The launcher names the cause if Go's runtime has ended a rank for lack of threads.
func TestThreadsOfGoRanksAreNamed(t *testing.T) {
	// The runtime writes the message in these pieces, and the launcher may read each one separately.
	const ends = `printf 'runtime/cgo: ' >&2; printf 'pthread_create failed: %s' 'Resource temporarily unavailable' >&2; echo >&2; kill -ABRT $$`
	r := newRun(t, "-n", "2", "sh", "-c", `ulimit -c 0; test $HALO_RANK = 0 && exec `+hangPath+` barrier; `+ends).start().wait(134)
	r.said("was killed by signal 6 (SIGABRT, aborted); the job was ended (its Go runtime could not make a thread: ")
	if strings.Contains(r.stderr.String(), "debugger") {
		t.Error(r.stderr.String())
	}
}

// denier returns the path of a program that denies system calls to another one.
func denier(t *testing.T) string {
	t.Helper()
	deny := filepath.Join(filepath.Dir(haloPath), "deny")
	if !build(deny, "./testdata/deny") {
		t.Fatal("no filter")
	}
	return deny
}

// If a system call filter denies shared memory, ranks use sockets, and -fabric shm is an error.
func TestDeniedMemoryFallsBackToSockets(t *testing.T) {
	deny := denier(t) + " memfd_create"
	run := func(args ...string) *run {
		return newRun(t, args...).through(`exec ` + deny + ` "$0" "$@"`).start()
	}
	run("-n", "2", "rank", "init", "exchange", "job", "finalize").wait(0).quiet().printed(
		"rank 0 of 2 local [0 1] fabric tcp app 0 secret true", "rank 1 of 2 local [0 1] fabric tcp app 0 secret true")
	run("-v", "-n", "1", "true").wait(0).said("halo: the ranks use tcp: this host has no shared memory for -fabric shm: memfd_create", "operation not permitted")
	run("-fabric", "shm", "-n", "1", "true").wait(125).said("halo: this host has no shared memory for -fabric shm: memfd_create", "-fabric tcp does without")
	run("-n", "2", hangPath, "barrier").wait(0).quiet()
	r := far(t, "run", "-v", "-host", "a", "-n", "1", "true").through(`exec ` + deny + ` "$0" "$@"`).start()
	r.wait(0).said("halo: a: the ranks use tcp: this host has no shared memory")
	far(t, "run", "-fabric", "shm", "-host", "a", "-n", "1", "true").through(`exec ` + deny + ` "$0" "$@"`).start().wait(125).said("-fabric tcp does without")
}

// A job runs in a root directory with only the programs and their libraries, without /dev and /proc.
func TestChrootWithoutDevices(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to change the root directory")
	}
	root := t.TempDir()
	libraries, _ := exec.Command("ldd", haloPath, rankPath).Output() // static programs have none
	files := append(regexp.MustCompile(`/\S+\.so\S*`).FindAllString(string(libraries), -1), haloPath, rankPath)
	for _, file := range files {
		text, err := os.ReadFile(file)
		to := filepath.Join(root, file)
		if file == haloPath || file == rankPath {
			to = filepath.Join(root, filepath.Base(file))
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
			if err == nil {
				err = os.WriteFile(to, text, 0o755)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := newRun(t, "-n", "2")
	r.cmd.Path, r.cmd.Dir = "/halo", "/"
	r.cmd.Args = append([]string{"/halo"}, append(r.cmd.Args[1:], "/rank", "init", "exchange", "cat", "print:done", "finalize")...)
	r.cmd.SysProcAttr.Chroot = root
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	r.cmd.Stdin = null
	r.start().wait(0)
	if !testrun.Race { // the race detector complains that there is no /proc
		r.quiet()
	}
	if got := strings.Count(r.stdout.String(), "done\n"); got != 2 {
		t.Errorf("stdout %q", r.stdout.String())
	}
}

// Without /dev/null Go's runtime would end a launcher with closed descriptors; the launcher runs.
func TestClosedDescriptorsWithoutDevices(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Geteuid() != 0 || !hasC(t) {
		t.Skip("needs root and unshare, to hide /dev, and a launcher with C")
	}
	for closed, status := range map[string]int{"<&-": 0, "<&- 2>&-": 0, ">&-": 125, "<&- >&- 2>&-": 125} {
		r := newRun(t, "-n", "2", "rank", "init", "exchange", "cat", "print:done", "finalize")
		r.through(`exec ` + unshare + ` -m sh -c 'mount -t tmpfs none /dev && exec "$0" "$@" ` + closed + `' "$0" "$@"`).start().wait(status)
		if status == 0 {
			r.printed("done", "done")
		}
		if r.stderr.Len() > 0 && closed != ">&-" {
			t.Errorf("%s: %s", closed, r.stderr.String())
		}
	}
}

// The launcher builds a package in TMPDIR. If that is not writable, the error says so.
func TestBuildDirectoryThatCannotBeWritten(t *testing.T) {
	r := newRun(t, "-n", "1", "./testdata/hang")
	r.cmd.Env = append(r.cmd.Env, "TMPDIR=/proc/no-such-directory")
	r.start().wait(125).said("halo: cannot make a directory to build in: mkdir /proc/no-such-directory/halo-", "(TMPDIR names another place)")
}
