package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
)

// operatorUser is the user of the containers of an MPIJob, who is not root.
const operatorUser = 23456

// pods are hosts that look like the pods of an MPIJob as Kubernetes' MPI operator makes them: a user
// who is not root, keys in ~/.ssh from a Secret, an sshd of that user on port 2222 in the workers, a file
// of hosts by their names in a headless service, and /etc/ssh/ssh_config of the operator's images.
type pods struct {
	*hosttest.Hosts
	t     *testing.T
	home  string
	names string // the file /etc/hosts of all pods
}

func newPods(t *testing.T, n int) *pods {
	t.Helper()
	for _, tool := range []string{"setpriv", "ssh-keygen"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is missing")
		}
	}
	p := &pods{Hosts: hosttest.Start(t, n), t: t}
	dir, err := os.MkdirTemp("", "halo-pods-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p.home, p.names = filepath.Join(dir, "mpiuser"), filepath.Join(dir, "hosts")
	keys := filepath.Join(p.home, ".ssh")
	if err := os.MkdirAll(keys, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(keys, "id_ed25519")).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	public, err := os.ReadFile(filepath.Join(keys, "id_ed25519.pub"))
	if err != nil {
		t.Fatal(err)
	}
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		filepath.Join(keys, "authorized_keys"):    string(public),
		filepath.Join(p.home, ".sshd_config"):     fmt.Sprintf("PidFile %[1]s/sshd.pid\nHostKey %[1]s/.ssh/id_ed25519\nStrictModes no\nPort 2222\n", p.home),
		filepath.Join(dir, "ssh_config"):          "Host *\n    StrictHostKeyChecking no\n    UserKnownHostsFile /dev/null\n    LogLevel ERROR\n    Port 2222\n",
		filepath.Join(dir, "passwd"):              string(passwd) + fmt.Sprintf("mpiuser:x:%[1]d:%[1]d::%[2]s:/bin/sh\n", operatorUser, p.home),
		p.names:                                   "127.0.0.1 localhost\n",
		filepath.Join(p.home, "hostfile.openmpi"): "",
		filepath.Join(p.home, "hostfile.mpich"):   "",
	}
	for i := 1; i < n; i++ {
		files[filepath.Join(p.home, "hostfile.openmpi")] += p.pod(i) + " slots=2\n"
		files[filepath.Join(p.home, "hostfile.mpich")] += p.pod(i) + ":2\n"
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{p.home, keys, filepath.Join(keys, "id_ed25519")} {
		if err := os.Chown(name, operatorUser, operatorUser); err != nil {
			t.Fatal(err)
		}
	}
	for _, public := range []string{dir, filepath.Dir(haloPath)} { // the user finds what root has made
		if err := os.Chmod(public, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		for file, at := range map[string]string{p.names: "/etc/hosts", filepath.Join(dir, "passwd"): "/etc/passwd", filepath.Join(dir, "ssh_config"): "/etc/ssh/ssh_config"} {
			if out, err := p.Command(i, "mount", "--bind", file, at).CombinedOutput(); err != nil {
				t.Fatalf("mount: %v: %s", err, out)
			}
		}
	}
	return p
}

// pod is the name of worker i of the job in its service. Pod 0 is the launcher.
func (p *pods) pod(i int) string { return fmt.Sprintf("pi-worker-%d.pi.default.svc", i-1) }

// as is a command of the user in a pod.
func (p *pods) as(i int, words ...string) *exec.Cmd {
	return p.CommandIn(i, p.home, "setpriv", append([]string{fmt.Sprintf("--reuid=%d", operatorUser), fmt.Sprintf("--regid=%d", operatorUser), "--clear-groups"}, words...)...)
}

// serve starts the sshd of a worker.
func (p *pods) serve(i int) {
	p.t.Helper()
	daemon := p.as(i, "/usr/sbin/sshd", "-De", "-f", filepath.Join(p.home, ".sshd_config"))
	if err := daemon.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { // the process is nsenter's successor: exec keeps its id
		daemon.Process.Kill()
		daemon.Wait()
	})
}

// run is a run of mpirun in the launcher's pod.
func (p *pods) run(name string, env []string, args ...string) *run {
	p.t.Helper()
	command := filepath.Join(p.home, name)
	if err := os.Symlink(haloPath, command); err != nil && !os.IsExist(err) {
		p.t.Fatal(err)
	}
	r := newRun(p.t, args...)
	environ, attr := r.cmd.Env, r.cmd.SysProcAttr
	r.cmd = p.as(0, append([]string{command}, r.cmd.Args[2:]...)...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.Env = append(append(environ, "HOME="+p.home, "USER=mpiuser", envRole+"=launcher"), env...)
	if r.cmd.SysProcAttr == nil {
		r.cmd.SysProcAttr = attr
	}
	r.cmd.WaitDelay = 5 * time.Second
	return r
}

// X-LCH-01: mpirun and mpiexec do in the launcher's pod of an MPIJob what the operator expects, as a user
// who is not root, before the names and daemons of the workers are there.
func TestOperatorsPods(t *testing.T) {
	t.Parallel()
	p := newPods(t, 3)
	openmpi := []string{"OMPI_MCA_orte_default_hostfile=" + filepath.Join(p.home, "hostfile.openmpi"), "OMPI_MCA_orte_keep_fqdn_hostnames=true",
		"OMPI_MCA_orte_set_default_slots=2", "OMPI_MCA_plm_rsh_args=-o ConnectionAttempts=10"}
	intel := []string{"I_MPI_HYDRA_HOST_FILE=" + filepath.Join(p.home, "hostfile.mpich"), "I_MPI_PERHOST=2", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-o ConnectionAttempts=10"}
	mpich := []string{"HYDRA_HOST_FILE=" + filepath.Join(p.home, "hostfile.mpich"), "HYDRA_LAUNCH_EXTRA_ARGS=-o ConnectionAttempts=10"}
	want := []string{
		"rank 0 of 4 local [0 1] fabric shm app 0 secret true", "rank 1 of 4 local [0 1] fabric shm app 0 secret true",
		"rank 2 of 4 local [2 3] fabric shm app 0 secret true", "rank 3 of 4 local [2 3] fabric shm app 0 secret true"}
	steps := []string{"rank", "init", "exchange", "job", "finalize"}

	early, h := p.run("mpirun", openmpi, append([]string{"-n", "4", "--allow-run-as-root", "-bind-to", "none", "-map-by", "slot", "-mca", "pml", "ob1", "-x", "PATH"}, steps...)...), &heard{}
	early.cmd.Stderr = h
	early.start()
	h.await(t, "halo: waiting for "+p.pod(1)+": ssh: Could not resolve hostname ")
	names, err := os.OpenFile(p.names, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < p.Len(); i++ {
		fmt.Fprintf(names, "%s %s\n", p.Addr(i), p.pod(i))
	}
	names.Close()
	for i := 1; i < p.Len(); i++ {
		p.serve(i)
	}
	early.wait(0).printed(want...)
	for line := range strings.Lines(h.String()) {
		if !strings.HasPrefix(line, "halo: waiting for ") {
			t.Errorf("stderr: %s", line)
		}
	}

	p.run("mpirun", intel, steps...).start().wait(0).quiet().printed(want...)
	p.run("mpiexec", mpich, append([]string{"-n", "4"}, steps...)...).start().wait(0).quiet().printed(want...)
	p.run("mpirun", openmpi, "rank", "init", "exchange", "3@exit:3", "forever").start().wait(3).said("rank 3 ", p.pod(2), "exited with status 3")
	nothingRuns(t, p.Hosts)
}
