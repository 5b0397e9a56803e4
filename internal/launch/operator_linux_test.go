package launch

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// operatorUser is a user who is not root.
const operatorUser = 23456

// operatorObjects are what Kubernetes' MPI operator makes of deploy/kubernetes/mpijob.yaml. Its own controller
// has made the files that have them: deploy/kubernetes/operator.
type operatorObjects struct {
	Config   struct{ Data map[string]string }
	Secret   struct{ StringData map[string]string } // the kinds of its keys
	Launcher struct {
		Spec struct{ Template struct{ Spec podSpec } }
	}
	Workers []struct {
		Metadata struct{ Name, Namespace string }
		Spec     podSpec
	}
}

// A podSpec is the part of the specification of a pod that a host can play.
type podSpec struct {
	Hostname, Subdomain string
	Containers          []struct {
		Command         []string
		WorkingDir      string
		Env             []struct{ Name, Value string }
		SecurityContext struct{ RunAsUser int }
		VolumeMounts    []struct{ Name, MountPath string }
	}
	Volumes []struct {
		Name   string
		Secret *struct {
			DefaultMode os.FileMode
			Items       []volumeItem
		}
		ConfigMap *struct{ Items []volumeItem }
	}
}

// A volumeItem is a file of a volume.
type volumeItem struct {
	Key, Path string
	Mode      os.FileMode
}

// volumeMode is the mode of the files of a volume that has none.
const volumeMode = 0o644

// readObjects returns the objects of a mode of the operator.
func readObjects(t *testing.T, mode string) *operatorObjects {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy/kubernetes/testdata/mpijob", mode+".json"))
	o := &operatorObjects{}
	if err == nil {
		err = json.Unmarshal(text, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// pods are hosts that play the pods of an MPIJob, first the launcher's and then the workers'. Image and names are
// those of deploy/kubernetes/Dockerfile and of a headless service.
type pods struct {
	*hosttest.Hosts
	t     *testing.T
	dir   string // what pods see of it is in the folders bin, etc and those of volumes
	pod   []podSpec
	names []string
}

func newPods(t *testing.T, o *operatorObjects) *pods {
	t.Helper()
	for _, tool := range []string{"setpriv", "ssh-keygen", "cp"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is missing")
		}
	}
	p := &pods{Hosts: hosttest.Start(t, 1+len(o.Workers)), t: t, pod: []podSpec{o.Launcher.Spec.Template.Spec}, names: []string{""}}
	for _, w := range o.Workers {
		p.pod = append(p.pod, w.Spec)
		p.names = append(p.names, fmt.Sprintf("%s.%s.%s.svc", w.Spec.Hostname, w.Spec.Subdomain, w.Metadata.Namespace))
	}
	var err error
	p.dir, err = os.MkdirTemp("", "halo-pods-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	p.image()
	keys := p.keys(o.Secret.StringData)
	for i := range p.pod {
		p.setUp(i, o, keys)
	}
	return p
}

// must fails the test if err is not nil.
func (p *pods) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// image makes the folders of the image: programs, and a copy of /etc with the user and what ssh needs.
func (p *pods) image() {
	p.t.Helper()
	p.must(os.Chmod(p.dir, 0o755))
	p.must(os.Mkdir(filepath.Join(p.dir, "bin"), 0o755))
	for name, program := range map[string]string{"halo": haloPath, "rank": rankPath} {
		p.must(os.Link(program, filepath.Join(p.dir, "bin", name)))
	}
	for _, name := range []string{"mpirun", "mpiexec"} {
		p.must(os.Symlink("halo", filepath.Join(p.dir, "bin", name)))
	}
	if !build(filepath.Join(p.dir, "bin", "heat"), "github.com/halo-mpi/halo/examples/heat") {
		p.t.Fatal("no heat")
	}
	etc := filepath.Join(p.dir, "etc")
	if out, err := exec.Command("cp", "-a", "/etc", etc).CombinedOutput(); err != nil {
		p.t.Fatalf("cp: %v: %s", err, out)
	}
	c := p.pod[0].Containers[0]
	for name, text := range map[string]string{
		"passwd":         fmt.Sprintf("root:x:0:0::/root:/bin/sh\nmpiuser:x:%[1]d:%[1]d::%[2]s:/bin/sh\n", c.SecurityContext.RunAsUser, c.WorkingDir),
		"hosts":          "127.0.0.1 localhost\n",
		"ssh/ssh_config": "Host *\n    StrictHostKeyChecking no\n    UserKnownHostsFile /dev/null\n    LogLevel ERROR\n    Port 2222\n",
	} {
		os.Remove(filepath.Join(etc, name))
		p.must(os.WriteFile(filepath.Join(etc, name), []byte(text), 0o644))
	}
	p.must(os.MkdirAll(filepath.Join(etc, "mpi"), 0o755))
}

// keys makes the keys of the Secret, which are of the kinds that the controller makes.
func (p *pods) keys(kinds map[string]string) map[string]string {
	p.t.Helper()
	file := filepath.Join(p.dir, "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-f", file).CombinedOutput(); err != nil {
		p.t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	private, err := os.ReadFile(file)
	p.must(err)
	public, err := os.ReadFile(file + ".pub")
	p.must(err)
	block, _ := pem.Decode(private)
	kind, _, _ := strings.Cut(string(public), " ")
	if block == nil || block.Type != kinds["ssh-privatekey"] || kind != kinds["ssh-publickey"] || len(kinds) != 2 {
		p.t.Fatalf("ssh-keygen makes keys of kinds %+v and %s, the operator %v", block, kind, kinds)
	}
	return map[string]string{"ssh-privatekey": string(private), "ssh-publickey": string(public)}
}

// setUp makes host i a pod: its name, the image, the home of its user, and its volumes, which belong to root.
func (p *pods) setUp(i int, o *operatorObjects, keys map[string]string) {
	p.t.Helper()
	spec := &p.pod[i]
	c := spec.Containers[0]
	home, user := c.WorkingDir, c.SecurityContext.RunAsUser
	sshd := fmt.Sprintf("PidFile %[1]s/sshd.pid\nHostKey %[1]s/.ssh/id_rsa\nStrictModes no\nPort 2222\n", home)
	script := fmt.Sprintf("hostname %s\nmount --bind %[2]s/bin /usr/local/bin\nmount --bind %[2]s/etc /etc\nmount -t tmpfs -o mode=755 tmpfs /home\n"+
		"mkdir %[3]s\nprintf '%%s' '%[4]s' >%[3]s/.sshd_config\nchown %[5]d:%[5]d %[3]s\n", spec.Hostname, p.dir, home, sshd, user)
	for _, m := range c.VolumeMounts {
		folder := filepath.Join(p.dir, fmt.Sprintf("pod%d-%s", i, m.Name))
		p.must(os.Mkdir(folder, 0o755))
		for _, v := range spec.Volumes {
			switch {
			case v.Name != m.Name:
			case v.Secret != nil:
				p.files(folder, v.Secret.Items, keys, v.Secret.DefaultMode)
			case v.ConfigMap != nil:
				p.files(folder, v.ConfigMap.Items, o.Config.Data, 0)
			}
		}
		script += fmt.Sprintf("mkdir -p %[1]s\nmount --bind %[2]s %[1]s\n", m.MountPath, folder)
	}
	if out, err := p.Command(i, "sh", "-ec", script).CombinedOutput(); err != nil {
		p.t.Fatalf("pod %d: %v: %s", i, err, out)
	}
}

// files makes the files of a volume.
func (p *pods) files(folder string, items []volumeItem, data map[string]string, mode os.FileMode) {
	p.t.Helper()
	if mode == 0 {
		mode = volumeMode
	}
	for _, item := range items {
		text, ok := data[item.Key]
		if !ok {
			p.t.Fatalf("%s has no %s", folder, item.Key)
		}
		if item.Mode == 0 {
			item.Mode = mode
		}
		file := filepath.Join(folder, item.Path)
		p.must(os.WriteFile(file, []byte(text), 0o600))
		p.must(os.Chmod(file, item.Mode))
	}
}

// as is a command of the user of a pod, in its folder and with its variables.
func (p *pods) as(i int, words ...string) *exec.Cmd {
	c := p.pod[i].Containers[0]
	line := []string{fmt.Sprintf("--reuid=%d", c.SecurityContext.RunAsUser), fmt.Sprintf("--regid=%d", c.SecurityContext.RunAsUser), "--clear-groups"}
	cmd := p.CommandIn(i, c.WorkingDir, "setpriv", append(line, words...)...)
	cmd.Env = append(os.Environ(), "HOME="+c.WorkingDir, "USER=mpiuser", "PATH=/usr/local/bin:/usr/bin:/bin")
	for _, e := range c.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	return cmd
}

// serve starts the command of a worker, its sshd.
func (p *pods) serve(i int) {
	p.t.Helper()
	daemon := p.as(i, p.pod[i].Containers[0].Command...)
	p.must(daemon.Start())
	p.t.Cleanup(func() { // the process is nsenter's successor: exec keeps its id
		daemon.Process.Kill()
		daemon.Wait()
	})
}

// play takes the objects of another mode: the launcher's pod gets its variables and files.
func (p *pods) play(o *operatorObjects) {
	p.t.Helper()
	p.pod[0] = o.Launcher.Spec.Template.Spec
	for _, v := range p.pod[0].Volumes {
		if v.ConfigMap != nil {
			p.files(filepath.Join(p.dir, "pod0-"+v.Name), v.ConfigMap.Items, o.Config.Data, 0)
		}
	}
}

// launch is the command of the launcher's pod, which runs heat for a few steps, or another one.
func (p *pods) launch(words ...string) *run {
	p.t.Helper()
	if words == nil {
		words = append(slices.Clone(p.pod[0].Containers[0].Command), "-steps", "20")
	}
	r := newRun(p.t)
	attr := r.cmd.SysProcAttr
	r.cmd = p.as(0, words...)
	r.cmd.Env = append(r.cmd.Env, r.marker, testrun.RaceOptions)
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.WaitDelay = &r.stdout, &r.stderr, time.Minute
	if r.cmd.SysProcAttr == nil {
		r.cmd.SysProcAttr = attr
	}
	return r
}

// X-LCH-01: in each of the operator's modes the pods that its controller makes of our MPIJob run the job to the
// end, as a user who is not root, also if the launcher starts before the names and daemons of the workers are
// there. The status of the launcher is that of the job.
func TestOperatorsPods(t *testing.T) {
	t.Parallel()
	o := readObjects(t, "OpenMPI")
	p := newPods(t, o)
	early, h := p.launch(), &heard{}
	early.cmd.Stderr = h
	early.start()
	h.await(t, "halo: waiting for "+p.names[1]+": ssh: Could not resolve hostname ")
	names, err := os.OpenFile(filepath.Join(p.dir, "etc", "hosts"), os.O_APPEND|os.O_WRONLY, 0)
	p.must(err)
	for i := 1; i < p.Len(); i++ {
		fmt.Fprintf(names, "%s %s\n", p.Addr(i), p.names[i])
	}
	names.Close()
	for i := 1; i < p.Len(); i++ {
		p.serve(i)
	}
	early.wait(0)
	ranks := fmt.Sprintf("%d ranks on %d hosts", 2*len(o.Workers), len(o.Workers))
	if !strings.Contains(h.String(), ranks) {
		t.Errorf("no %q in %s", ranks, h.String())
	}
	checksum := func(r *run) string {
		_, after, ok := strings.Cut(r.stdout.String(), ", checksum ")
		if !ok {
			t.Errorf("heat says %q", r.stdout.String())
		}
		return after
	}
	result := checksum(early)
	for _, mode := range []string{"Intel", "MPICH"} {
		p.play(readObjects(t, mode))
		r := p.launch().start().wait(0).said(ranks)
		if got := checksum(r); got != result {
			t.Errorf("%s: the checksum of heat is %q, in the mode OpenMPI it is %q", mode, got, result)
		}
	}
	p.launch("mpiexec", "-n", "4", "--allow-run-as-root", "-bind-to", "none", "-map-by", "slot", "/usr/local/bin/rank", "init", "exchange", "3@exit:3", "forever").
		start().wait(3).said("rank 3 ", p.names[2], "exited with status 3")
	nothingRuns(t, p.Hosts)
}
