package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// runTimeout ends a run that hangs; the slowest good one (MPICH's barrier of
	// 8 ranks on 2 cores) takes a few seconds.
	runTimeout = time.Minute

	// tcpBytes is the minimum that a benchmark over TCP sends through the loopback interface: a
	// thousand of the shortest packets. The number of packets is no measure, since puts that wait for
	// nothing share packets.
	tcpBytes = 1000 * 66

	// launches is how often a round of init starts the job.
	launches = 3
)

// An implementation is an MPI with its benchmark program, ready to run.
type implementation struct {
	name    string
	version string
	program string
	command func(j job, cores int) []string // launcher and its options; nil: the program launches itself
	env     func(j job) []string
	stuck   map[string]bool // jobs that did not end: they are not tried again
}

func columns() []string { return []string{"halo", clibrary, fortran, "mpich", "openmpi"} }

func isColumn(name string) bool {
	for _, c := range columns() {
		if c == name {
			return true
		}
	}
	return false
}

// prepare builds the benchmark program of one MPI in bin, and installs the MPI
// before if it is missing and this user can.
func prepare(name, root, bin string, log io.Writer) (*implementation, error) {
	m := &implementation{name: name, program: filepath.Join(bin, "halobench-"+name), env: func(job) []string { return nil }, stuck: map[string]bool{}}
	if name == "halo" {
		m.program = filepath.Join(bin, "halo")
		cmd := exec.Command("go", "build", "-o", m.program, "./cmd/halo")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build ./cmd/halo: %v\n%s", err, out)
		}
		m.version = "Halo"
		return m, nil
	}
	if name == clibrary {
		if err := install([]string{"gcc"}, []string{"gcc", "libc6-dev"}, log); err != nil {
			return nil, err
		}
		if err := buildLibrary(root, bin, m.program); err != nil {
			return nil, err
		}
		m.version = "Halo's C library"
		m.command = func(j job, cores int) []string { return launchLibrary(bin, j, cores) }
		return m, nil
	}
	if name == fortran {
		if err := install([]string{"gcc", "gfortran"}, []string{"gcc", "libc6-dev", "gfortran"}, log); err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(bin, "libmpi_abi.so.1")); err != nil { // it is no column of this run
			if err := buildLibrary(root, bin, filepath.Join(bin, "halobench-"+clibrary)); err != nil {
				return nil, err
			}
		}
		if err := buildFortran(root, bin, m.program); err != nil {
			return nil, err
		}
		m.version = "Halo's Fortran library"
		m.command = func(j job, cores int) []string { return launchLibrary(bin, j, cores) }
		return m, nil
	}
	compiler, launcher := "mpicc."+name, "mpirun."+name
	packages := map[string][]string{
		"mpich":   {"gcc", "libc6-dev", "mpich", "libmpich-dev"},
		"openmpi": {"gcc", "libc6-dev", "openmpi-bin", "libopenmpi-dev"},
	}[name]
	if err := install([]string{compiler, launcher, "gcc"}, packages, log); err != nil {
		return nil, err
	}
	source := filepath.Join(root, "bench", "halobench.c")
	if out, err := exec.Command(compiler, "-O2", "-std=gnu11", "-pthread", "-o", m.program, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %s: %v\n%s", compiler, source, err, out)
	}
	// Both are bound to cores as long as there are enough, and to none
	// otherwise. Open MPI then yields when idle by itself. MPICH has a setting
	// for it, but no value of it is faster than the default.
	switch name {
	case "mpich":
		m.version = "MPICH " + versionOf("mpichversion", "MPICH Version:")
		m.command = func(j job, cores int) []string {
			return []string{launcher, "-bind-to", bindTo(j, cores), "-n", strconv.Itoa(j.ranks)}
		}
		m.env = func(j job) []string {
			if j.fabric == "tcp" {
				return []string{"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self"}
			}
			return nil
		}
	case "openmpi":
		m.version = "Open MPI " + versionOf("ompi_info", "Open MPI:")
		m.command = func(j job, cores int) []string {
			args := []string{launcher, "--oversubscribe", "--bind-to", bindTo(j, cores), "-n", strconv.Itoa(j.ranks)}
			if j.fabric == "tcp" {
				args = append(args, "--mca", "pml", "ob1", "--mca", "btl", "self,tcp")
			}
			if j.bench == "cas" {
				args = append(args, "--mca", "btl_vader_single_copy_mechanism", "none")
			}
			return args
		}
		m.env = func(job) []string {
			return []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
		}
	}
	return m, nil
}

func bindTo(j job, cores int) string {
	if j.ranks <= cores && !j.spreads() {
		return "core"
	}
	return "none"
}

// about describes a job under this MPI, and reports whether the MPI can run it.
func (m *implementation) about(j job) (remark string, runs bool) {
	if m.stuck[j.String()] {
		return "", false // a failure that has been reported
	}
	if m.name == fortran && !inFortran(j) || m.name != fortran && j.bench == "section" {
		return "", false
	}
	if m.name == "mpich" && j.dynamic() {
		return "Debian's MPICH has no ports and no spawn: \"currently not supported with ucx netmod\".", false
	}
	if m.name == "mpich" && j.ranks > mostRanks(j.bench) {
		return "MPICH ran barrier, allreduce and alltoall with up to 16 ranks, window and dup with up to 8, guideline, waitsome and proxy with 2: processes that share cores wait for the time slices of the others in each call, and a round would take minutes.", false
	}
	if m.name == "openmpi" && j.bench == "proxy" && noPeer(j.args, j.strangers) {
		return "Open MPI did not run proxy applications with one-sided communication on 4 ranks beside strangers: each run takes 8 to 55 s.", false
	}
	if m.name != "openmpi" || !j.oneSided() {
		return "", true
	}
	if j.fabric == "tcp" {
		return "Open MPI has no working one-sided communication over TCP: allocated windows use shared memory underneath, others cannot be created.", false
	}
	if j.bench == "cas" {
		return "Open MPI's compare_and_swap ran without its single-copy mechanism: with it the target crashes.", true
	}
	return "", true
}

// install makes sure that all programs are installed.
func install(programs, packages []string, log io.Writer) error {
	missing := func() string {
		for _, p := range programs {
			if _, err := exec.LookPath(p); err != nil {
				return p
			}
		}
		return ""
	}
	p := missing()
	if p == "" {
		return nil
	}
	command := "apt-get install -y --no-install-recommends " + strings.Join(packages, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("%s is missing; as root on Debian: %s\n(or leave it out: -mpi halo,...)", p, command)
	}
	for _, c := range []string{"apt-get update -q", command} {
		fmt.Fprintln(log, c)
		words := strings.Fields(c)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s is missing, and %s failed: %v\n%s", p, c, err, out)
		}
	}
	if p := missing(); p != "" {
		return fmt.Errorf("%s is missing even after %s", p, command)
	}
	return nil
}

// versionOf is the text after label in the program's output.
func versionOf(program, label string) string {
	out, err := exec.Command(program).Output()
	if err != nil {
		return "(version unknown)"
	}
	for s := range strings.Lines(string(out)) {
		if _, v, ok := strings.Cut(s, label); ok {
			return strings.TrimSpace(v)
		}
	}
	return "(version unknown)"
}

// arguments is the whole command line of a run.
func (m *implementation) arguments(j job, cores int) []string {
	if m.command == nil {
		ranks := strconv.Itoa(j.ranks)
		if j.bench == "init" {
			return []string{m.program, "run", "-n", ranks, "-fabric", j.fabric, m.program, "bench", "-rank", "init"}
		}
		args := []string{m.program, "bench", "-json", "-n", ranks, "-fabric", j.fabric}
		if len(j.sizes) > 0 {
			args = append(args, "-sizes", j.sizeList())
		}
		return append(append(args, strings.Fields(j.args)...), j.bench)
	}
	args := append(m.command(j, cores), m.program, j.bench, "-fabric", j.fabric)
	args = append(args, strings.Fields(j.args)...)
	if len(j.sizes) > 0 {
		args = append(args, "-sizes", j.sizeList())
	}
	return args
}

// run runs a job and returns what it printed. Init prints nothing: it is timed
// from here, from before the launcher's start to after its exit.
func (m *implementation) run(j job, cores int) ([]line, error) {
	times := 1
	if j.bench == "init" {
		times = launches
	}
	var us []float64
	var lines []line
	for range times {
		ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
		args := m.arguments(j, cores)
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the launcher takes its ranks along
		cmd.WaitDelay = 5 * time.Second
		cmd.Env = append(os.Environ(), m.env(j)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		before, counted := loopbackBytes()
		start := time.Now()
		err := cmd.Run()
		us = append(us, float64(time.Since(start))/1e3)
		timedOut := ctx.Err() != nil
		cancel()
		if timedOut {
			m.stuck[j.String()] = true
			return nil, fmt.Errorf("did not end within %v: %s", runTimeout, m.text(args))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %v: %s", m.text(args), err, lastLine(stderr.String()))
		}
		after, _ := loopbackBytes()
		if j.fabric == "tcp" && counted && after-before < tcpBytes {
			return nil, fmt.Errorf("only %d bytes went over the loopback interface: that was not TCP", after-before)
		}
		lines, err = parseLines(&stdout)
		if err != nil {
			return nil, fmt.Errorf("%s: %v", m.text(args), err)
		}
	}
	if j.bench == "init" {
		return []line{{Bench: "init", Fabric: j.fabric, Ranks: j.ranks, US: median(us)}}, nil
	}
	if len(lines) == 0 {
		return nil, errors.New("the benchmark printed nothing")
	}
	return lines, nil
}

// text is a command line for the report, without the temporary folder of the program.
func (m *implementation) text(args []string) string {
	return strings.ReplaceAll(strings.Join(args, " "), filepath.Dir(m.program)+"/", "")
}

func parseLines(out io.Reader) ([]line, error) {
	var lines []line
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var l line
		d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("output %q: %v", sc.Text(), err)
		}
		lines = append(lines, l)
	}
	return lines, sc.Err()
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// loopbackBytes is how many bytes the loopback interface has received so far; false where the
// kernel does not tell.
func loopbackBytes() (int64, bool) {
	b, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return 0, false
	}
	for s := range strings.Lines(string(b)) {
		if name, rest, ok := strings.Cut(s, ":"); ok && strings.TrimSpace(name) == "lo" {
			if f := strings.Fields(rest); len(f) > 0 {
				n, err := strconv.ParseInt(f[0], 10, 64)
				return n, err == nil
			}
		}
	}
	return 0, false
}
