package enginetest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// Slurm is a cluster of two nodes, n1 and n2, on this machine.
type Slurm struct {
	dir     string
	daemons []*daemon
}

// Nodes is the number of nodes of a Slurm. Each has CPUs processors, whatever the machine has.
const (
	Nodes = 2
	CPUs  = 4
)

// startTimeout is how long the daemons may take until both nodes are idle: a second on an idle machine.
const startTimeout = testrun.Long

// A daemon is a process with a shell that ends it when the pipe of the test is closed.
type daemon struct {
	cmd  *exec.Cmd
	hold *os.File
}

// guard is the shell: it waits for the end of the daemon, or for that of its own input. A daemon may
// not end when it is asked to.
const guard = `exec 3<&0; "$@" </dev/null & p=$!
{ read -r _ <&3; kill -TERM $p 2>/dev/null; sleep 5; kill -KILL $p 2>/dev/null; } & wait $p; kill $! 2>/dev/null`

// Missing returns the first of some programs that this machine lacks, "" if it has all.
func Missing(programs ...string) string {
	for _, p := range programs {
		if _, err := lookPath(p); err != nil {
			return p
		}
	}
	return ""
}

// lookPath finds a program, even a daemon that is not in the PATH of a user.
func lookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + program)
	}
	return path, err
}

// Need skips t where a program is missing, and says which. With -short it always skips t, because engines
// take long to start and to end.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("enginetest: tests of engines take long")
	}
	if p := Missing(programs...); p != "" {
		t.Skipf("enginetest: %s is not installed: make need installs it", p)
	}
}

// configuration is slurm.conf of a cluster on one machine, without munge and without cgroups.
const configuration = `ClusterName=halo
SlurmctldHost=%[2]s(127.0.0.1)
SlurmUser=root
AuthType=auth/%[7]s
CredType=cred/%[7]s
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool-%%n
SlurmdPidFile=%[1]s/slurmd-%%n.pid
SlurmctldPidFile=%[1]s/slurmctld.pid
TmpFS=%[1]s/tmp-%%n
SlurmctldPort=%[3]d
ProctrackType=proctrack/linuxproc
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=1
ReturnToService=2
NodeName=n1 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=%[6]d
NodeName=n2 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=%[6]d
PartitionName=all Nodes=ALL Default=YES
`

// StartSlurm starts a cluster, which ends with t. It needs root, and skips t without.
func StartSlurm(t testing.TB) *Slurm {
	t.Helper()
	Need(t, "slurmctld", "slurmd", "srun", "salloc", "sinfo", "scancel")
	if os.Geteuid() != 0 {
		t.Skip("enginetest: Slurm on one machine needs root")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "halo-slurm-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Slurm{dir: dir}
	t.Cleanup(func() { s.close(t) })
	for _, d := range []string{"state", "spool-n1", "spool-n2", "tmp-n1", "tmp-n2"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ports := freePorts(t, 3)
	auth, files := "none", map[string]string{}
	if release(t) >= 23.11 { // it has no plugin "none", and its plugin "slurm" needs no munge either
		auth = "slurm"
		files["slurm.key"] = strings.Repeat("a key for tests ", 64)
		files["cgroup.conf"] = "CgroupPlugin=disabled\n"
	}
	files["slurm.conf"] = fmt.Sprintf(configuration, dir, host, ports[0], ports[1], ports[2], CPUs, auth)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.start(t, "slurmctld", "-D", "-c")
	s.awaitController(t, ports[0]) // a daemon that does not find it tries again after seconds
	s.start(t, "slurmd", "-D", "-N", "n1")
	s.start(t, "slurmd", "-D", "-N", "n2")
	for end := time.Now().Add(startTimeout); ; time.Sleep(20 * time.Millisecond) {
		out, err := s.Command("sinfo", "-h", "-o", "%T %D").CombinedOutput()
		if string(out) == fmt.Sprintf("idle %d\n", Nodes) {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("enginetest: the nodes of Slurm are not idle after %v: %s, %v\n%s", startTimeout, out, err, s.Logs())
		}
	}
}

// release returns the release of the installed Slurm, the year and the month, such as 22.05.
func release(t testing.TB) float64 {
	t.Helper()
	path, err := lookPath("slurmctld")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "-V").Output()
	words := strings.Fields(string(out)) // slurm-wlm 22.05.8
	if err != nil || len(words) != 2 {
		t.Fatalf("enginetest: slurmctld -V: %q, %v", out, err)
	}
	parts := strings.SplitN(words[1], ".", 3)
	n, err := strconv.ParseFloat(strings.Join(parts[:min(2, len(parts))], "."), 64)
	if err != nil {
		t.Fatalf("enginetest: slurmctld -V: %q", out)
	}
	return n
}

// awaitController waits until the controller listens.
func (s *Slurm) awaitController(t testing.TB, port int) {
	t.Helper()
	for end := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("enginetest: slurmctld does not listen after %v: %v\n%s", startTimeout, err, s.Logs())
		}
	}
}

// freePorts returns ports on which nobody listens.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// start starts a daemon, with its output in a file.
func (s *Slurm) start(t testing.TB, program string, args ...string) {
	t.Helper()
	path, err := lookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(s.dir, fmt.Sprintf("log-%d", len(s.daemons))))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("sh", append([]string{"-c", guard, "sh", path}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = append(os.Environ(), s.Environ()), s.dir, r, log, log
	if err := cmd.Start(); err != nil {
		w.Close()
		t.Fatal(err)
	}
	s.daemons = append(s.daemons, &daemon{cmd, w})
}

// Environ is the variable by which commands find this cluster.
func (s *Slurm) Environ() string { return "SLURM_CONF=" + filepath.Join(s.dir, "slurm.conf") }

// Command returns a command, such as srun, that talks to this cluster.
func (s *Slurm) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), s.Environ())
	return cmd
}

// Allocate takes all processors of both nodes for a job, and returns its number. Steps of the job (srun
// --jobid) start at once, whereas a new job waits until Slurm has cleaned up after the one before.
func (s *Slurm) Allocate(t testing.TB) string {
	t.Helper()
	out, err := s.Command("salloc", "--no-shell", fmt.Sprintf("-N%d", Nodes), fmt.Sprintf("-n%d", Nodes*CPUs)).CombinedOutput()
	_, job, _ := strings.Cut(string(out), "Granted job allocation ")
	job, _, _ = strings.Cut(job, "\n")
	if err != nil || job == "" {
		t.Fatalf("enginetest: salloc: %v, %s\n%s", err, out, s.Logs())
	}
	return job
}

// NeedService skips t if srun cannot serve processes by a kind of --mpi in a job of Allocate: the PMIx
// plugin of Debian's Slurm loads libpmix.so, which is only in the package with the headers of PMIx.
func (s *Slurm) NeedService(t testing.TB, job, kind string) {
	t.Helper()
	if kind != "pmix" {
		return
	}
	if out, err := s.Command("srun", "--jobid="+job, "--mpi="+kind, "-N1", "-n1", "true").CombinedOutput(); err != nil && strings.Contains(string(out), "can not load PMIx library") {
		t.Skip("enginetest: there is no libpmix.so for Slurm here (package libpmix-dev)")
	}
}

// Logs returns the last part of what each daemon has written.
func (s *Slurm) Logs() string {
	var b strings.Builder
	for i := range s.daemons {
		text, _ := os.ReadFile(filepath.Join(s.dir, fmt.Sprintf("log-%d", i)))
		fmt.Fprintf(&b, "%s:\n%s\n", strings.Join(s.daemons[i].cmd.Args[4:], " "), text[max(0, len(text)-4000):])
	}
	return b.String()
}

// close ends the remaining steps, and then the daemons, the controller last.
func (s *Slurm) close(t testing.TB) {
	if len(s.daemons) > 0 {
		s.Command("scancel", "-s", "KILL", "-u", "root").Run()
	}
	for i := len(s.daemons) - 1; i >= 0; i-- {
		s.daemons[i].hold.Close()
		s.daemons[i].cmd.Wait()
	}
	s.killSteps()
	if err := os.RemoveAll(s.dir); err != nil {
		t.Error(err)
	}
}

// killSteps ends the daemons of steps, which do not end with those of their nodes.
func (s *Slurm) killSteps() {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(env, []byte(s.Environ()+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && bytes.HasPrefix(line, []byte("slurmstepd")) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
