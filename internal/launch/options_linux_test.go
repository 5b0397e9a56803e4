package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// One file for the output of each rank, on one host and on several.
func TestOutputFiles(t *testing.T) {
	for name, start := range ways("-n", "4") {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, c := range []struct {
				options  []string
				out, err string // files of rank 2, "" for the launcher's output
			}{
				{[]string{"-output-filename", dir + "/a%r"}, "a%r.2", "a%r.2"},
				{[]string{"-outfile-pattern", dir + "/b-%r-100%%"}, "b-2-100%", ""},
				{[]string{"-outfile-pattern", dir + "/c%r", "-errfile-pattern", dir + "/d"}, "c2", "d"},
			} {
				r := start(t)
				line := r.cmd.Args[:len(r.cmd.Args)-1] // without the folder
				r.cmd.Args = append(append(line[:len(line):len(line)], c.options...), "sh", "-c", "echo out $HALO_RANK; echo err $HALO_RANK >&2")
				r.start().wait(0)
				if text, err := os.ReadFile(filepath.Join(dir, c.out)); err != nil || !strings.Contains(string(text), "out 2\n") {
					t.Errorf("%q: %q, %v", c.options, text, err)
				}
				if c.err == "" {
					r.said("err 2")
				} else if text, err := os.ReadFile(filepath.Join(dir, c.err)); err != nil || !strings.Contains(string(text), "err 2\n") {
					t.Errorf("%q: %q, %v", c.options, text, err)
				}
				r.printed()
			}
		})
	}
	halo(t, 125, "-n", "2", "-output-filename", "/no/such/folder/x", "rank", "init", "forever").said("the file for the output of rank", "/no/such/folder/x.")
}

// Options of other launchers that say something.
func TestOptionsThatSaySomething(t *testing.T) {
	halo(t, 7, "-n", "3", "-print-all-exitcodes", "rank", "init", "exchange", "finalize", "2@exit:7").said("halo: exit codes: ", "rank 2: 7")
	halo(t, 0, "-n", "3", "--print-all-exitcodes", "true").said("halo: exit codes: ranks 0-2: 0")
	r := halo(t, 0, "-n", "1", "--timestamp-output", "-tag-output", "echo", "x").quiet()
	if !regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d\d\d \[0\] x\n$`).MatchString(r.stdout.String()) {
		t.Errorf("stdout %q", r.stdout.String())
	}
	for _, o := range []string{"--report-bindings", "--display-map"} {
		halo(t, 0, "-n", "1", o, "true").said("halo: job ", ": 1 rank on ", "core").said("rank 0: pid ", "core")
	}
	r = newRun(t, "-n", "2", "--stdin", "none", "cat")
	r.cmd.Stdin = strings.NewReader("x")
	r.start().wait(0).printed()
	r = newRun(t, "-n", "3", "-l", "--stdin", "2", "cat")
	r.cmd.Stdin = strings.NewReader("x\n")
	r.start().wait(0).printed("[2] x")
	r = far(t, "run", "-host", "a:1,b:2", "-n", "3", "-l", "--stdin", "2", "cat")
	r.cmd.Stdin = strings.NewReader("x\n")
	r.start().wait(0).printed("[2] x")
	halo(t, 2, "-n", "3", "--stdin", "3", "cat").said("-stdin 3: the ranks are 0 to 2")
	halo(t, 0, "-host", "127.0.0.1:2,127.0.0.2:2", "-n", "4", "true").said("127.0.0.1 and 127.0.0.2 are names of this host")
	halo(t, 0, "-host", "localhost:4", "-n", "4", "true").quiet()
}

// What wrapper scripts for Open MPI read.
func TestRanksForScripts(t *testing.T) {
	var want []string
	for i := range 4 {
		want = append(want, fmt.Sprintf("%d %d", i, i%2))
	}
	far(t, "run", "-host", "a:2,b:2", "-n", "4", "sh", "-c", "echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK").start().wait(0).printed(want...)
	// A rank starts a program of Halo, which is in no job.
	halo(t, 0, "-n", "2", "rank", "init", "exchange", "child:init job", "finalize").quiet().
		printed("rank 0 of 1 local [0] fabric shm app 0 secret true", "rank 0 of 1 local [0] fabric shm app 0 secret true")
}
