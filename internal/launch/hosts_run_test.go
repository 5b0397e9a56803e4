//go:build linux

package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/talk"
)

// fakeSSH replaces ssh. It runs the command on this host in a new session with a new environment
// and default actions for SIGINT and SIGQUIT, which sh ignores in background commands; or it fails
// as ssh may fail.
const fakeSSH = `#!/bin/sh
mode=$1 host=$2
shift 2
echo "$mode $host $*" >> "$HALO_TEST_SSH_LOG"
remote() {
	setsid env -i --default-signal=INT,QUIT HOME=/far "PATH=$PATH" "HALO_TEST_RUN=$HALO_TEST_RUN" "TMPDIR=$TMPDIR" "GORACE=$GORACE" FAR=yes sh -c "$*; exit \$?" &
	wait $!
	exit $?
}
fail() { echo "$2" >&2; exit $1; }
exec 4<&0
case $mode in
run) remote "$* <&4" ;;
banner) echo "Welcome to $host."; printf 'no newline'; remote "$* <&4" ;;
denied) fail 255 "me@$host: Permission denied (publickey,password)." ;;
unknown) fail 255 "ssh: Could not resolve hostname $host: Name or service not known" ;;
refused) fail 255 "ssh: connect to host $host port 22: Connection refused" ;;
down) fail 255 "ssh: connect to host $host port 22: Connection timed out" ;;
key) fail 255 "Host key verification failed." ;;
late)
	case $(grep -c "^late $host " "$HALO_TEST_SSH_LOG") in
	1) fail 255 "ssh: Could not resolve hostname $host: Name or service not known" ;;
	2) fail 255 "ssh: connect to host $host port 22: Connection refused" ;;
	esac
	remote "$* <&4" ;;
hang) echo "waiting for something" >&2; sleep 1000 ;;
yes) yes "this is no agent" ;;
text) echo "This account is currently not available."; exit 1 ;;
ends) head -c 100 "$HALO_TEST_HELLO"; exit 3 ;;
version) printf '\000halo-agent\000\n\011\000\000\000\001\002\000\004\000what'; sleep 1000 ;;
broken) printf '\000halo-agent\000\n\002\000\000\000\002x'; sleep 1000 ;;
huge) printf '\000halo-agent\000\n\377\377\377\377'; sleep 1000 ;;
esac
`

// far prepares halo run whose ranks reach the hosts of -host by a fake ssh.
func far(t *testing.T, mode string, args ...string) *run {
	t.Helper()
	dir := t.TempDir()
	ssh := filepath.Join(dir, "ssh")
	if err := os.WriteFile(ssh, []byte(fakeSSH), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, append([]string{"-ssh", ssh + " " + mode, "-iface", "127.0.0.0/8"}, args...)...)
	r.cmd.Env = append(r.cmd.Env, "HALO_TEST_SSH_LOG="+filepath.Join(dir, "log"))
	return r
}

func farRun(t *testing.T, status int, args ...string) *run {
	t.Helper()
	return far(t, "run", args...).start().wait(status)
}

func TestRanksOfSeveralHostsAreOneJob(t *testing.T) {
	farRun(t, 0, "-host", "a:1,b:2", "-n", "3", "rank", "init", "exchange", "job", "exchange", "hosts", "exchange", "finalize").quiet().printed(
		"rank 0 of 3 local [0] fabric shm app 0 secret true",
		"rank 1 of 3 local [1 2] fabric shm app 0 secret true",
		"rank 2 of 3 local [1 2] fabric shm app 0 secret true",
		"rank 0 hosts [a b] host [0 1 1] listen 127.0.0.1",
		"rank 1 hosts [a b] host [0 1 1] listen 127.0.0.1",
		"rank 2 hosts [a b] host [0 1 1] listen 127.0.0.1")
	name, _ := os.Hostname()
	r := farRun(t, 0, "-v", "-map-by", "node", "-host", "a,localhost", "-n", "3", "rank", "init", "exchange", "hosts", "finalize").printed(
		"rank 0 hosts [a "+name+"] host [0 1 0] listen 127.0.0.1",
		"rank 1 hosts [a "+name+"] host [0 1 0] listen 127.0.0.1",
		"rank 2 hosts [a "+name+"] host [0 1 0] listen 127.0.0.1")
	r.said("halo: a is ready").said("3 ranks on 2 hosts").said("rank 1: pid", "of "+name)
	farRun(t, 0, "-host", "a", "-n", "2", "rank", "init", "exchange", "hosts", "finalize").quiet().printed(
		"rank 0 hosts [a] host [0 0] listen 127.0.0.1", "rank 1 hosts [a] host [0 0] listen 127.0.0.1")
	farRun(t, 0, "-l", "-n", "1", "-host", "a", "rank", "init", "finalize", "print:x", ":", "-n", "2", "-host", "b", "rank", "init", "finalize", "print:y").printed(
		"[0] x", "[1] y", "[2] y")
}

// The local host needs no ssh, whatever it is called. The launcher says that all these names are one host.
func TestThisHostNeedsNoSSH(t *testing.T) {
	name, _ := os.Hostname()
	list := "localhost:1,127.0.0.1:1," + name + ":1"
	r := far(t, "denied", "-host", list, "-n", "3", "rank", "init", "exchange", "hosts", "finalize").start().wait(0).
		said("localhost and 127.0.0.1 and " + name + " are names of this host")
	if n := strings.Count(r.stdout.String(), "hosts ["+name+"] host [0 0 0] listen 127.0.0.1\n"); n != 3 {
		t.Errorf("stdout %s", r.stdout.String())
	}
}

func TestFailuresOfSSHAreExplained(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   string
		status int
		words  []string
	}{
		{"denied", 125, []string{"cannot start an agent on b", "Permission denied", "refused the key"}},
		{"unknown", 125, []string{"on b", "Could not resolve hostname b", "no host of that name"}},
		{"refused", 125, []string{"on b", "Connection refused", "no ssh daemon"}},
		{"down", 125, []string{"on b", "timed out", "firewall"}},
		{"key", 125, []string{"on b", "Host key verification failed", "by hand"}},
		{"hang", 125, []string{"not ready within 1s: b (ssh has not connected: waiting for something)", "-ssh-timeout"}},
		{"yes", 125, []string{"b (rank 1)", "without the greeting", "this is no agent"}},
		{"text", 125, []string{"on b", "status 1", "This account is currently not available."}},
		{"version", 126, []string{"on b is of another version", "agent 2, what", "install the same"}},
		{"broken", 125, []string{"b (rank 1) does not keep to the protocol", "instead of a greeting"}},
		{"huge", 125, []string{"b (rank 1) does not keep to the protocol", "limit is"}},
	} {
		// The other host works, and its agent must end, too.
		both := filepath.Join(t.TempDir(), "both")
		r := far(t, "run")
		script := fmt.Sprintf("#!/bin/sh\nif [ $1 = b ]; then exec %[1]s/ssh %[2]s \"$@\"; fi\nexec %[1]s/ssh run \"$@\"\n", filepath.Dir(strings.Fields(r.cmd.Args[3])[0]), c.mode)
		if err := os.WriteFile(both, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		r.cmd.Args = append(r.cmd.Args, "-ssh", both, "-ssh-timeout", map[bool]string{true: "1s", false: "60s"}[c.mode == "hang"],
			"-host", "a,b", "-n", "2", rankPath, "print:x")
		r.start().wait(c.status).said(append(c.words, "halo: ")...).printed()
	}
	r := farRun(t, 125, "-halo", "/no/such/halo", "-host", "a", "rank", "print:x")
	r.said("cannot start an agent on a", "not found", "is halo there as /no/such/halo? -halo names another path")
	farRun(t, 125, "-halo", "/etc/passwd", "-host", "a", "rank", "print:x").said("on a", "/etc/passwd cannot be executed there")
	halo(t, 127, "-ssh", "/no/such/ssh", "-host", "a", "rank").said("/no/such/ssh", "not found", "-ssh names another")
	farRun(t, 125, "-iface", "nodev9", "-host", "a,b", "-n", "2", "rank").said("-iface nodev9", "no such address", "lo 127.0.0.1")
	farRun(t, 2, "-host", "a:1,b:1", "-n", "3", "rank").said("3 ranks, but the hosts have 2 slots (a 1, b 1)", "-oversubscribe")
}

func TestBannersOfShellsAreSkipped(t *testing.T) {
	far(t, "banner", "-host", "a,b", "-n", "2", "rank", "init", "exchange", "finalize", "print:x").start().wait(0).quiet().printed("x", "x")
}

// A path with all special characters of shells still names the agent.
func TestPathOfTheAgentIsNoShellText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's $(touch x); `touch y` \\ \"!\" & *")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	agent := filepath.Join(dir, "halo")
	if err := os.Symlink(haloPath, agent); err != nil {
		t.Fatal(err)
	}
	farRun(t, 0, "-halo", agent, "-host", "a", "rank", "print:x").quiet().printed("x")
	if entries, _ := os.ReadDir("."); len(entries) > 0 {
		for _, e := range entries {
			if e.Name() == "x" || e.Name() == "y" {
				t.Errorf("a shell has made %s", e.Name())
				os.Remove(e.Name())
			}
		}
	}
}

// Promises S1 and S7: the launcher sends an agent its data through the ssh session. The command line
// contains only the agent's path, and the secret appears in no command line or environment.
func TestSecretIsNotSeen(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", "init", "exchange", "secret", "ready:"+ready, "forever").start()
	r.ready(ready, 2)
	log, _ := os.ReadFile(filepath.Join(filepath.Dir(strings.Fields(r.cmd.Args[3])[0]), "log"))
	for line := range strings.Lines(string(log)) {
		if want := haloPath + " agent\n"; line != "run a "+want && line != "run b "+want {
			t.Errorf("ssh was told %q", line)
		}
	}
	var seen []byte
	for _, p := range processesWith(r.marker) {
		var pid int
		fmt.Sscan(p, &pid)
		for _, file := range []string{"cmdline", "environ"} {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
			seen = append(seen, text...)
		}
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
	_, secret, ok := strings.Cut(r.stdout.String(), "secret ")
	secret, _, _ = strings.Cut(secret, "\n")
	if !ok || len(secret) != 64 || len(seen) < 1000 {
		t.Fatalf("secret %q, %d bytes seen", secret, len(seen))
	}
	if strings.Contains(string(seen), secret) || bytes.Contains(seen, []byte(secret[:16])) {
		t.Error("the secret of the job stands in a command line or environment")
	}
}

// Ranks of other hosts have the environment of their host, the launcher's HALO_ variables, and the
// variables that options name.
func TestEnvironmentIsPassedOnByList(t *testing.T) {
	r := far(t, "run", "-host", "a", "-env", "ONE", "1", "-x", "TWO=2", "-x", "THREE", "rank", "environ")
	r.cmd.Env = append(r.cmd.Env, "HOME=/near", "NEAR=yes", "THREE=3", "HALO_INITIAL_ERRHANDLER=mpi_errors_return", "HALO_RANK=77", "LD_PRELOAD_X=y")
	r.start().wait(0)
	out := "\n" + r.stdout.String()
	for _, want := range []string{"ONE=1", "TWO=2", "THREE=3", "HALO_INITIAL_ERRHANDLER=mpi_errors_return", "HALO_RANK=0", "HOME=/far", "FAR=yes"} {
		if !strings.Contains(out, "\n"+want+"\n") {
			t.Errorf("ranks do not see %s", want)
		}
	}
	for _, bad := range []string{"NEAR=", "HOME=/near", "LD_PRELOAD_X", "=77"} {
		if strings.Contains(out, bad) {
			t.Errorf("ranks see %s", bad)
		}
	}
}

func TestRankZeroElsewhereReadsTheInput(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 20*talk.StreamCredit/16)
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", "0@cat", "1@print:other\n")
	r.cmd.Stdin = strings.NewReader(text + "\n")
	r.start().wait(0).quiet()
	if got := strings.Replace(r.stdout.String(), "other\n\n", "", 1); got != text+"\n" {
		t.Errorf("%d bytes came back, want %d", len(got), len(text)+1)
	}
	// A rank that does not read its input delays nobody.
	r = far(t, "run", "-host", "a,b", "-n", "2", "rank", "print:x")
	r.cmd.Stdin = strings.NewReader(text)
	r.start().wait(0).quiet().printed("x", "x")
}

func TestOutputFromElsewhereArrivesWhole(t *testing.T) {
	const count, longest = 3000, 2000
	c := &checker{t: t, ranks: 4, longest: longest, next: make([]int, 4)}
	r := far(t, "run", "-host", "a,b", "-n", "4", "rank", fmt.Sprintf("lines:%d,%d", count, longest))
	r.cmd.Stdout = c
	r.start().wait(0).quiet()
	c.done(count)
}

// If nobody reads the output for longer than a host may be silent, the ranks block, and continue
// afterwards.
func TestUnreadOutputOfHostsIsNoSilence(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", "lines:2000,2000")
	r.cmd.Stdout = write
	r.start()
	write.Close()
	time.Sleep(talk.Silence + 2*talk.BeatInterval)
	c := &checker{t: t, ranks: 2, longest: 2000, next: make([]int, 2)}
	if _, err := io.Copy(c, read); err != nil {
		t.Fatal(err)
	}
	r.wait(0).quiet()
	c.done(2000)
}

func TestOneHostOfSeveralWithoutTheProgram(t *testing.T) {
	// Each agent checks this on its host. Here all hosts share a file system, so that the test calls
	// program.Check itself.
	for _, c := range []struct {
		app   plan.App
		words string
	}{
		{plan.App{File: "/no/such/program"}, "there is no program /no/such/program"},
		{plan.App{File: "/etc/passwd"}, "/etc/passwd cannot be executed"},
		{plan.App{File: "/etc"}, "cannot be executed"},
		{plan.App{File: rankPath, Dir: "/no/such/dir"}, "there is no directory /no/such/dir"},
		{plan.App{File: rankPath, Dir: "/etc/passwd"}, "there is no directory /etc/passwd"},
	} {
		if err := program.Check(&c.app); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%+v: %v, want %q", c.app, err, c.words)
		}
	}
	if err := program.Check(&plan.App{File: rankPath, Dir: "/"}); err != nil {
		t.Error(err)
	}
}

// The error of hosts with different versions names the versions, also for agents that send only the
// numbers of their protocols.
func TestVersionsOfHostsAreNamed(t *testing.T) {
	for build, want := range map[string]string{"v9.8.7 commit abcdef": "(there: v9.8.7 commit abcdef, agent 77, protocols; here: " + boot.Build() + ", agent ",
		"": "(there: of unknown version, agent 77, protocols; here: "} {
		hello := frame.New(talk.KindHello).U16(77).Text("protocols")
		if build != "" {
			hello.Text(build)
		}
		agent := filepath.Join(t.TempDir(), "agent")
		text := append([]byte(talk.Magic), hello.Bytes()...)
		if err := os.WriteFile(agent+".words", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(agent, []byte("#!/bin/sh\ncat "+agent+".words; cat >/dev/null\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		farRun(t, 126, "-halo", agent, "-host", "a", "-n", "1", "rank").said("is of another version of Halo "+want, "install the same on all hosts")
	}
}

func TestProgramsInCElsewhereAreToldNamesOfC(t *testing.T) {
	programsInC(t, func(t *testing.T, status int, args ...string) *run {
		return farRun(t, status, append([]string{"-host", "a,b"}, args...)...)
	})
}
