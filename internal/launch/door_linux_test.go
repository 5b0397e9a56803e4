package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// wrapped are the wrappers of testdata/rank that close, keep or reuse descriptors.
func wrapped() []string {
	return []string{"keep", "close", "exec", "session", "env", "socket", "pipe", "close wrap:socket", "socket wrap:close"}
}

// BRD-04: a rank starts under wrappers that close, keep or reuse descriptors, and writes nothing to those.
func TestBRD04_Wrappers(t *testing.T) {
	for _, how := range wrapped() {
		steps := append(strings.Fields("rank wrap:"+how), "init", "exchange", "finalize", "job")
		for name, start := range ways(append([]string{"-n", "4"}, steps...)...) {
			t.Run(strings.ReplaceAll(how, " wrap:", " ")+" "+name, func(t *testing.T) {
				t.Parallel()
				r := start(t)
				r.cmd.Args = r.cmd.Args[:len(r.cmd.Args)-1] // the folder
				r.start().wait(0).quiet()
				if out := r.stdout.String(); strings.Contains(out, "foreign") || strings.Count(out, " of 4 local") != 4 {
					t.Errorf("stdout %q", out)
				}
			})
		}
	}
}

// BRD-04: what a wrapper starts in a spawned job joins that one.
func TestBRD04_WrappersOfSpawnedJobs(t *testing.T) {
	for _, how := range []string{"close", "socket"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			halo(t, 0, "-n", "1", "rank", "wrap:"+how, "init", "spawn:2|wrap:"+how+"|init|exchange|finalize", "finalize").
				quiet().printed("spawned [2]")
		})
	}
}

// BRD-04: the programs of users that are wrappers.
func TestBRD04_WrappersOfTheSystem(t *testing.T) {
	steps := rankPath + " init exchange finalize print:x"
	for name, line := range map[string][]string{
		"python3": {"-c", "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1].split()).returncode)", steps},
		"setsid":  append([]string{"-w"}, strings.Fields(steps)...),
		"nohup":   strings.Fields(steps),
		"bash":    {"-c", "exec 3>&-; exec 4>&-; env -i $(env | grep ^HALO_) " + steps + "; exit $?"},
		"unshare": append([]string{"-r", "--pid", "--fork", "sh", "-c"}, "exec 3>&-; exec "+steps),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skip("not here:", err)
			}
			if err := exec.Command(name, "--version").Run(); name == "unshare" && (err != nil || exec.Command("unshare", "-r", "--pid", "--fork", "true").Run() != nil) {
				t.Skip("no namespaces here")
			}
			r := halo(t, 0, append([]string{"-n", "2", name}, line...)...)
			if strings.Count(r.stdout.String(), "x\n") != 2 {
				t.Errorf("stdout %q", r.stdout.String())
			}
		})
	}
}

// BRD-04: a rank that cannot start says why.
func TestBRD04_SaysWhyARankCannotStart(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	for _, way := range []string{"", "exec 3>&-; "} {
		os.Remove(done)
		r := halo(t, 0, "-n", "2", "bash", "-c", `if [ $HALO_RANK = 0 ]; then
			(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; `+way+rankPath+` init; touch `+done+`) & # as setsid does without -w
		else while [ ! -e `+done+` ]; do sleep 0.01; done; fi`)
		r.said("which was rank 0, has ended", "a wrapper waits for the program that it starts")
	}
	if os.Getuid() == 0 {
		r := newRun(t, "-n", "1", forAll(t, rankPath), "wrap:nobody", "init").start()
		r.end()
		r.nothingLeft()
		r.said("keep descriptor 3 open", "a rank runs as the user of the launcher, or as root")
	}
	// A program behind another one of the same rank.
	r := newRun(t, "-n", "2", "bash", "-c", "exec 3>&-; "+rankPath+" init exchange finalize; "+rankPath+" init; true").start()
	r.end()
	r.nothingLeft()
	r.said("every rank of this host has joined already")
}

// forAll copies a program to where every user may execute it.
func forAll(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "halo-for-all-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text, err := os.ReadFile(program)
	copied := filepath.Join(dir, "program")
	err = errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(copied, text, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

// BRD-04, S1: the name of the socket, which is no secret, admits nobody.
func TestBRD04_S1_StrangersDoNotJoin(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "2", "rank", "0@init", "ready:"+ready, "forever").start()
	pids := r.ready(ready, 2)
	var link, name string
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pids[1]), "environ"))
	if err != nil {
		t.Fatal(err)
	}
	for kv := range strings.SplitSeq(string(text), "\x00") {
		if v, ok := strings.CutPrefix(kv, "HALO_BOOT_LINK="); ok {
			link = v
			name = v[strings.LastIndexByte(v, ',')+1:]
		}
	}
	for _, note := range []string{link, "0,0," + name} { // the place of rank 1, which has not joined, and that of rank 0
		stranger := exec.Command(rankPath, "init", "secret")
		stranger.Env = append(os.Environ(), "HALO_BOOT_FD=3", "HALO_BOOT_LINK="+note)
		out, err := stranger.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not one that rank") {
			t.Errorf("%s: %v, %s", note, err, out)
		}
	}
	r.cmd.Process.Signal(os.Interrupt)
	r.wait(130)
}
