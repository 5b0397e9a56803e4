package hosttest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// run runs a command and returns what it printed.
func run(t testing.TB, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", c.Args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// reaches reports whether host i reaches an address. After a failed attempt the
// kernel may need seconds to try again.
func reaches(h *Hosts, i int, addr string) bool { return pings(h, i, addr, testrun.Long) }

// misses reports whether host i does not reach an address.
func misses(h *Hosts, i int, addr string) bool { return !pings(h, i, addr, 300*time.Millisecond) }

func pings(h *Hosts, i int, addr string, timeout time.Duration) bool {
	return h.Inside(i, func() error {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(addr, "22"), timeout)
		if err == nil {
			c.Close()
		}
		return err
	}) == nil
}

func TestHostsAreApart(t *testing.T) {
	h := Start(t, 2)
	here := run(t, exec.Command("hostname"))
	for i := range h.Len() {
		if got := run(t, h.Command(i, "hostname")); got != h.Name(i) {
			t.Errorf("host %d is called %q", i, got)
		}
	}
	if got := run(t, exec.Command("hostname")); got != here {
		t.Errorf("the machine is now called %q, was %q", got, here)
	}
	run(t, h.Command(0, "touch", "/dev/shm/halo-mark", "/run/halo-mark"))
	for _, file := range []string{"/dev/shm/halo-mark", "/run/halo-mark"} {
		if h.Command(1, "ls", file).Run() == nil {
			t.Errorf("host 1 sees %s of host 0", file)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("the machine sees %s of host 0", file)
		}
	}
	dir, _ := os.Getwd()
	if got := run(t, h.Command(1, "pwd")); got != dir {
		t.Errorf("a program starts in %q, the test is in %q", got, dir)
	}
	if got := run(t, h.CommandIn(1, "/", "pwd")); got != "/" {
		t.Errorf("a program starts in %q, want /", got)
	}
}

func TestHostsReachEachOther(t *testing.T) {
	h := Start(t, 3)
	for i := range 3 {
		for j := range 3 {
			for _, addr := range []string{h.Addr(j), h.Addr6(j)} {
				if addr != "" && !reaches(h, i, addr) {
					t.Errorf("host %d does not reach %s", i, addr)
				}
			}
		}
	}
	ssh := func(i int, to string, words ...string) string {
		all := append(append(h.SSH(), to), words...)
		return run(t, h.Command(i, all[0], all[1:]...))
	}
	if got := ssh(0, "host1", "hostname"); got != "host1" {
		t.Errorf("ssh from host0 to host1 reaches %q", got)
	}
	if got := ssh(2, h.Addr(0), "hostname"); got != "host0" {
		t.Errorf("ssh from host2 to %s reaches %q", h.Addr(0), got)
	}
}

func TestCutAndJoin(t *testing.T) {
	h := Start(t, 3)
	h.Cut(1)
	if !misses(h, 0, h.Addr(1)) || !misses(h, 1, h.Addr(2)) {
		t.Error("a host behind a cut link is reached")
	}
	if !reaches(h, 0, h.Addr(2)) {
		t.Error("the others do not reach each other")
	}
	h.Join(1)
	if !reaches(h, 0, h.Addr(1)) {
		t.Error("the host is not reached after the link was joined")
	}
}

// A wire loses nothing by itself, delays by at least what it is told, and loses
// what it is told; traffic over TCP comes through whole.
func TestWire(t *testing.T) {
	h := Start(t, 2)
	h.Wire(1, Line{Delay: 5 * time.Millisecond, Loss: 0.02, Duplicate: 0.02, Reorder: 0.05, Seed: 1})
	var ln net.Listener
	if err := h.Inside(1, func() (err error) { ln, err = net.Listen("tcp", h.Addr(1)+":0"); return }); err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	want := bytes.Repeat([]byte("halo over a bad wire\n"), 20000)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.Write(want)
	}()
	var got bytes.Buffer
	start := time.Now()
	if err := h.Inside(0, func() error {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = got.ReadFrom(c)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes came, want %d", got.Len(), len(want))
	}
	if d := time.Since(start); d < 15*time.Millisecond {
		t.Errorf("connection and data took %v over a wire of 5 ms", d)
	}
	h.Cut(1)
	if !misses(h, 0, h.Addr(1)) {
		t.Error("a host behind a cut wire is reached")
	}
	h.Join(1)
	h.Wire(1, Line{Loss: 1})
	if !misses(h, 0, h.Addr(1)) {
		t.Error("a wire that loses everything lets frames through")
	}
	h.Wire(1, Line{})
	if !reaches(h, 0, h.Addr(1)) {
		t.Error("a wire that loses nothing lets nothing through")
	}
}

// asKilled names the variable that makes TestKilled the one that is killed.
const asKilled = "HALO_HOSTTEST_KILLED"

// A killed test binary leaves no process in its hosts and no file.
func TestNothingIsLeftOfAKilledTest(t *testing.T) {
	if os.Getenv(asKilled) != "" {
		h := Start(t, 2)
		daemon := h.Command(0, "setsid", "sh", "-c", "trap '' HUP TERM; (while :; do sleep 100; done) & sleep 1000")
		if err := daemon.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Println("up", h.dir, h.host[0].net, h.host[1].net, h.hub.net)
		select {}
	}
	need(t)
	c := exec.Command(os.Args[0], "-test.run", "^TestNothingIsLeftOfAKilledTest$")
	c.Env = append(os.Environ(), asKilled+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var up, dir string
	var ns [3]string
	if _, err := fmt.Fscan(out, &up, &dir, &ns[0], &ns[1], &ns[2]); err != nil || up != "up" {
		t.Fatal(up, err)
	}
	if n := len(inside(ns[:])); n < 5 {
		t.Fatalf("%d processes in the hosts, want 3 that keep them and 2 daemons at least", n)
	}
	c.Process.Signal(syscall.SIGKILL)
	c.Wait()
	if err := await(func() error {
		if left := inside(ns[:]); len(left) > 0 {
			return fmt.Errorf("processes left: %v", left)
		}
		if _, err := os.Stat(dir); err == nil {
			return fmt.Errorf("%s is left", dir)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// inside lists the processes in network namespaces.
func inside(ns []string) (pids []string) {
	all, _ := os.ReadDir("/proc")
	for _, p := range all {
		link, err := os.Readlink("/proc/" + p.Name() + "/ns/net")
		for _, n := range ns {
			if err == nil && link == n {
				pids = append(pids, p.Name())
			}
		}
	}
	return pids
}
