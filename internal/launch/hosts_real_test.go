//go:build linux

package launch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
)

// over prepares halo run on host 0 of real hosts, which reaches the other hosts by real ssh.
func over(t *testing.T, h *hosttest.Hosts, args ...string) *run {
	t.Helper()
	return overSSH(t, h, nil, args...)
}

// overSSH is over with more options for ssh.
func overSSH(t *testing.T, h *hosttest.Hosts, options []string, args ...string) *run {
	t.Helper()
	r := newRun(t, args...)
	var words []string
	for _, w := range append(h.SSH(), options...) {
		words = append(words, "'"+w+"'")
	}
	env, attr := r.cmd.Env, r.cmd.SysProcAttr
	line := append([]string{"run", "-ssh", strings.Join(words, " ")}, r.cmd.Args[2:]...)
	r.cmd = h.Command(0, haloPath, line...)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.Env = env
	if r.cmd.SysProcAttr == nil {
		r.cmd.SysProcAttr = attr
	}
	r.cmd.WaitDelay = time.Minute
	return r
}

// onHosts returns the command lines of the processes of halo and the test program on these hosts, by
// process id. It recognises them by their network namespace: agents do not have the run's marker, and
// other tests have hosts of their own at the same time.
func onHosts(t *testing.T, h *hosttest.Hosts) map[int]string {
	t.Helper()
	network := map[string]bool{}
	for i := range h.Len() {
		if err := h.Inside(i, func() error {
			name, err := os.Readlink("/proc/thread-self/ns/net")
			network[name] = true
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	all := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		exe, _ := os.Readlink(filepath.Join(dir, "exe"))
		if exe != haloPath && exe != rankPath {
			continue
		}
		if name, err := os.Readlink(filepath.Join(dir, "ns", "net")); err != nil || !network[name] {
			continue // the process has ended, or belongs to another test
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		all[pid] = strings.Join(strings.Split(string(line), "\x00"), " ")
	}
	return all
}

// nothingRuns checks that no process of a job is left on any host.
func nothingRuns(t *testing.T, h *hosttest.Hosts) {
	t.Helper()
	var left map[int]string
	for end := time.Now().Add(hangs); ; time.Sleep(5 * time.Millisecond) {
		left = onHosts(t, h)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	t.Errorf("left on the hosts: %v", left)
}

// agentsOnHosts returns the process ids of the agents on all hosts.
func agentsOnHosts(t *testing.T, h *hosttest.Hosts) (pids []int) {
	t.Helper()
	for pid, line := range onHosts(t, h) {
		if line == haloPath+" "+reach.AgentWord+" " {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		t.Fatal("no agents")
	}
	return pids
}

func TestRealHosts(t *testing.T) {
	t.Parallel()
	h := hosttest.Start(t, 3)
	t.Run("job", func(t *testing.T) {
		over(t, h, "-iface", "eth0", "-host", "host1:1,host2:2,host0", "-n", "4", "rank", "init", "exchange", "hosts", "exchange", "job", "finalize").start().wait(0).quiet().printed(
			"rank 0 hosts [host1 host2 host0] host [0 1 1 2] listen "+h.Addr(1),
			"rank 1 hosts [host1 host2 host0] host [0 1 1 2] listen "+h.Addr(2),
			"rank 2 hosts [host1 host2 host0] host [0 1 1 2] listen "+h.Addr(2),
			"rank 3 hosts [host1 host2 host0] host [0 1 1 2] listen "+h.Addr(0),
			"rank 0 of 4 local [0] fabric shm app 0 secret true",
			"rank 1 of 4 local [1 2] fabric shm app 0 secret true",
			"rank 2 of 4 local [1 2] fabric shm app 0 secret true",
			"rank 3 of 4 local [3] fabric shm app 0 secret true")
		nothingRuns(t, h)
	})
	t.Run("MPICH", func(t *testing.T) { // X-LCH-01
		// The job ends by MPI_Abort: MPI_Finalize of MPICH 4.0.2 hangs over tcp of UCX in every other run,
		// under its own launcher, too.
		over(t, h, "-host", "host1:2,host2:2", mpichWorld(t), "abort").start().wait(7).said("rank 3 ", "host2", "called MPI_Abort(7)").printed(
			"rank 0 of 4 app 0 with 2 on the node", "rank 1 of 4 app 0 with 2 on the node",
			"rank 2 of 4 app 0 with 2 on the node", "rank 3 of 4 app 0 with 2 on the node")
		nothingRuns(t, h)
	})
	t.Run("addresses", func(t *testing.T) {
		over(t, h, "-host", h.Addr(0)+","+h.Addr(1), "-n", "2", "rank", "init", "exchange", "hosts", "finalize").start().wait(0).quiet().printed(
			"rank 0 hosts [host0 "+h.Addr(1)+"] host [0 1] listen "+h.Addr(0),
			"rank 1 hosts [host0 "+h.Addr(1)+"] host [0 1] listen "+h.Addr(1))
		if h.Addr6(0) == "" {
			return // the kernel has no IPv6
		}
		list := fmt.Sprintf("[%s],[%s]", h.Addr6(0), h.Addr6(1))
		over(t, h, "-iface", h.Addr6(0)+"/64", "-host", list, "-n", "2", "rank", "init", "exchange", "hosts", "finalize").start().wait(0).quiet().printed(
			"rank 0 hosts [host0 "+h.Addr6(1)+"] host [0 1] listen "+h.Addr6(0),
			"rank 1 hosts [host0 "+h.Addr6(1)+"] host [0 1] listen "+h.Addr6(1))
	})
	t.Run("environment", func(t *testing.T) {
		r := over(t, h, "-host", "host1", "-env", "ONE", "1", "rank", "environ")
		r.cmd.Env = append(r.cmd.Env, "NEAR=yes")
		r.start().wait(0).quiet()
		if out := "\n" + r.stdout.String(); !strings.Contains(out, "\nONE=1\n") || !strings.Contains(out, "\nSSH_CONNECTION=") || strings.Contains(out, "NEAR=") {
			t.Errorf("environment: %s", out)
		}
	})
	t.Run("errors", func(t *testing.T) {
		over(t, h, "-host", "host0,nowhere.invalid", "-n", "2", "rank").start().wait(125).said("on nowhere.invalid", "no host of that name")
		over(t, h, "-host", "host1", "-halo", "/no/such/halo", "rank").start().wait(125).said("on host1", "is halo there as /no/such/halo?")
		overSSH(t, h, []string{"-p", "23"}, "-host", "host1", "rank").start().wait(125).said("on host1", "no ssh daemon")
		overSSH(t, h, []string{"-o", "PubkeyAuthentication=no"}, "-host", "host1", "rank").start().wait(125).said("on host1", "refused the key")
		// Each host has a /dev/shm of its own.
		program := "/dev/shm/program"
		if out, err := h.Command(0, "cp", rankPath, program).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v: %s", err, out)
		}
		over(t, h, "-host", "host0,host1", "-n", "2", program, "print:x").start().wait(127).said("halo: host1: there is no program "+program, "same path").printed()
		if out, err := h.Command(0, "mkdir", "/dev/shm/work").CombinedOutput(); err != nil {
			t.Fatalf("mkdir: %v: %s", err, out)
		}
		over(t, h, "-host", "host0,host1", "-wdir", "/dev/shm/work", "-n", "2", "rank", "cwd").start().wait(126).said("halo: host1: there is no directory /dev/shm/work")
		h.Cut(1)
		overSSH(t, h, []string{"-o", "ConnectTimeout=1"}, "-host", "host0,host1", "-n", "2", "rank").start().wait(125).said("on host1", "timed out")
		h.Join(1)
		nothingRuns(t, h)
	})
	t.Run("ports", func(t *testing.T) {
		listening := func(i int) (list []int) {
			text, err := h.Command(i, "sh", "-c", "cat /proc/net/tcp*").Output()
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				words := strings.Fields(line) // number, local address, peer, state
				port, err := strconv.ParseInt(words[1][strings.LastIndexByte(words[1], ':')+1:], 16, 32)
				if err == nil && words[3] == "0A" && port > 1023 {
					list = append(list, int(port))
				}
			}
			return list
		}
		r := over(t, h, "-ports", "41000-41003", "-host", "host1:2,host2", "-n", "3", hangPath, "recv").start()
		for end := time.Now().Add(hangs); (len(listening(1)) != 2 || len(listening(2)) != 1) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		}
		ports := append(listening(1), listening(2)...)
		if len(ports) != 3 {
			t.Errorf("ports %v", ports)
		}
		for _, port := range ports {
			if port < 41000 || port > 41003 {
				t.Errorf("port %d", port)
			}
		}
		r.stop()
		over(t, h, "-ports", "41000-41001", "-host", "host1:3,host2", "-n", "4", hangPath, "recv").start().wait(1).said("no port of 41000-41001 (HALO_PORTS) is free")
		nothingRuns(t, h)
	})
	t.Run("firewall", func(t *testing.T) {
		if _, err := exec.LookPath("nft"); err != nil {
			t.Skip("no nft here")
		}
		rules := "add table inet f; add chain inet f in { type filter hook input priority 0; }; " +
			"add rule inet f in tcp dport >= 1024 tcp flags & (syn | ack) == syn drop"
		if out, err := h.Command(1, "nft", rules).CombinedOutput(); err != nil {
			t.Fatalf("nft: %v: %s", err, out)
		}
		over(t, h, "-host", "host0,host1", "-n", "2", "rank").start().wait(125).said("host0 cannot reach host1 at ", "tcp: i/o timeout", "firewall")
		if out, err := h.Command(1, "nft", "delete table inet f").CombinedOutput(); err != nil {
			t.Fatalf("nft: %v: %s", err, out)
		}
		over(t, h, "-host", "host0,host1", "-n", "2", "rank", "print:x").start().wait(0).printed("x", "x")
	})
	// Promise F4: a cut cable ends the job on both sides.
	t.Run("cut", func(t *testing.T) {
		for _, args := range [][]string{{"init", "exchange"}, nil} {
			ready := filepath.Join(t.TempDir(), "ready")
			args = append([]string{"-host", "host0,host1", "-n", "4", "rank", "orphan"}, append(args, "ready:"+ready, "forever")...)
			r := over(t, h, args...).start()
			r.ready(ready, 4)
			cut := time.Now()
			h.Cut(1)
			r.end()
			t.Logf("the launcher ended %v after the cut", time.Since(cut).Round(time.Millisecond))
			nothingRuns(t, h)
			t.Logf("nothing was left %v after the cut", time.Since(cut).Round(time.Millisecond))
			r.wait(125).said("halo: host1 (ranks 2-3) has sent nothing for", "the job was ended")
			h.Join(1)
		}
	})
	// The launcher gives up a stopped agent, and the agent's warden ends its processes.
	t.Run("stopped agent", func(t *testing.T) {
		ready := filepath.Join(t.TempDir(), "ready")
		r := over(t, h, "-host", "host0,host1", "-n", "4", "rank", "orphan", "init", "exchange", "ready:"+ready, "forever").start()
		r.ready(ready, 4)
		for _, pid := range agentsOnHosts(t, h) {
			syscall.Kill(pid, syscall.SIGSTOP)
		}
		r.end()
		nothingRuns(t, h)
		r.wait(125).said("halo: host1 (ranks 2-3) has sent nothing for", "the job was ended")
	})
	t.Run("short cut", func(t *testing.T) {
		ready := filepath.Join(t.TempDir(), "ready")
		r := over(t, h, "-host", "host0,host1", "-n", "2", "rank", "ready:"+ready, "sleep:2000", "print:x").start()
		r.ready(ready, 2)
		h.Cut(1)
		time.Sleep(talk.Silence / 4)
		h.Join(1)
		r.wait(0).printed("x", "x")
	})
	t.Run("kill", func(t *testing.T) {
		for i := range 8 {
			killPoint(t, h, i)
		}
	})
}

// killPoint kills a process of a job on real hosts; i selects its kind.
func killPoint(t *testing.T, h *hosttest.Hosts, i int) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	r := over(t, h, "-host", "host0,host1,host2", "-n", "3", "rank", "ready:"+ready, "orphan", "init", "exchange", "exchange", "forever").start()
	pids := r.ready(ready, 3)
	time.Sleep(time.Duration(rand.IntN(10000)) * time.Microsecond)
	var clients []int
	for _, p := range processesWith(r.marker) {
		var pid int
		fmt.Sscan(p, &pid)
		if strings.Contains(p, "ssh") && !strings.Contains(p, haloPath+" run") {
			clients = append(clients, pid)
		}
	}
	victims := map[string][]int{"launcher": {r.cmd.Process.Pid}, "rank": pids, "agent": agentsOnHosts(t, h), "ssh": clients}
	kind := []string{"launcher", "rank", "agent", "ssh"}[i%4]
	if len(victims[kind]) == 0 {
		t.Fatalf("no %s to kill", kind)
	}
	syscall.Kill(victims[kind][rand.IntN(len(victims[kind]))], syscall.SIGKILL)
	r.end()
	nothingRuns(t, h)
	switch kind {
	case "launcher":
		r.wait(137)
	case "rank":
		r.wait(137).said("halo: rank ", "on host", "SIGKILL")
	case "agent":
		r.wait(125).said("halo: the agent on host", "(rank ", "is gone", "the job was ended")
	case "ssh":
		r.wait(125).said("halo: the agent on host", "(rank ", "ssh was killed by SIGKILL")
	}
	if t.Failed() {
		t.Fatalf("after a kill of %s", kind)
	}
}
