package hosttest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
)

// Hosts are the hosts of one test.
type Hosts struct {
	t    testing.TB
	dir  string // keys, configuration and logs, removed by the warden
	hub  *anchor
	host []*anchor
	ssh  []string  // the words that start ssh
	off  io.Closer // the input of the warden: closing it ends the hosts
	ward *exec.Cmd
	wire map[int]*wire

	daemons sync.WaitGroup // the goroutines that wait for the end of an ssh daemon
}

// An anchor is a process that keeps the namespaces of a host open.
type anchor struct {
	cmd   *exec.Cmd
	stdin io.Closer
	net   string // what its network namespace is called: net:[number]
}

// maxHosts is bounded by the numbers in their addresses.
const maxHosts = 200

// Start makes n hosts, which are gone when the test ends. It skips the test, with
// the reason, where the machine cannot have such hosts, and with -short.
func Start(t testing.TB, n int) *Hosts {
	t.Helper()
	if n < 1 || n > maxHosts {
		t.Fatalf("hosttest: %d hosts, want 1 to %d", n, maxHosts)
	}
	need(t)
	dir, err := os.MkdirTemp("", "halo-hosts-")
	if err != nil {
		t.Fatal(err)
	}
	h := &Hosts{t: t, dir: dir, wire: map[int]*wire{}}
	t.Cleanup(h.close)
	if err := h.configure(n); err != nil {
		t.Fatalf("hosttest: %v", err)
	}
	h.hub, err = h.anchor("ip link set lo up")
	if err != nil {
		t.Fatalf("hosttest: hub: %v", err)
	}
	for i := range n {
		a, err := h.anchor(h.setUp(i))
		if err != nil {
			t.Fatalf("hosttest: host%d: %v", i, err)
		}
		h.host = append(h.host, a)
	}
	if err := h.guard(); err != nil {
		t.Fatalf("hosttest: %v", err)
	}
	if err := h.connect(); err != nil {
		t.Fatalf("hosttest: %v", err)
	}
	for i := range h.host {
		if err := h.serve(i); err != nil {
			t.Fatalf("hosttest: host%d: %v", i, err)
		}
	}
	return h
}

// need skips a test that wants hosts, as Start does.
func need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("hosttest: tests on several hosts take long")
	}
	if missing := Missing(); missing != "" {
		t.Skip("hosttest: hosts cannot be had here: " + missing)
	}
}

// Missing says what this machine lacks for hosts; "" if it lacks nothing.
func Missing() string {
	if os.Geteuid() != 0 {
		return "only root makes namespaces"
	}
	for _, c := range [][2]string{
		{"ip", "iproute2"}, {"nsenter", "util-linux"}, {"unshare", "util-linux"}, {"mount", "mount"}, {"hostname", "hostname"},
		{"env", "coreutils"}, {"find", "findutils"}, {"ssh", "openssh-client"}, {"ssh-keygen", "openssh-client"}, {sshd, "openssh-server"},
	} {
		if _, err := exec.LookPath(c[0]); err != nil {
			return fmt.Sprintf("%s is missing (package %s)", c[0], c[1])
		}
	}
	if out, err := exec.Command("unshare", "--net", "--mount", "--uts", "--ipc", "ip", "link", "add", "name", "near", "type", "veth", "peer", "name", "far").CombinedOutput(); err != nil {
		return fmt.Sprintf("the kernel refuses namespaces or veth devices: %v: %s", err, out)
	}
	return ""
}

// Len is the number of hosts.
func (h *Hosts) Len() int { return len(h.host) }

// Name is the name of host i.
func (h *Hosts) Name(i int) string { return fmt.Sprintf("host%d", i) }

// Addr is the IPv4 address of host i.
func (h *Hosts) Addr(i int) string { return fmt.Sprintf("10.99.0.%d", i+1) }

// Addr6 is the IPv6 address of host i, "" where the kernel has no IPv6.
func (h *Hosts) Addr6(i int) string {
	if !hasIPv6() {
		return ""
	}
	return fmt.Sprintf("fd99::%x", i+1)
}

// SSH is the beginning of a command that runs another command on another host: the
// caller appends the name or address of that host, and the command. It works on each
// of the hosts.
func (h *Hosts) SSH() []string { return append([]string(nil), h.ssh...) }

// Dir is a directory that all hosts see. It contains the logs of the ssh daemons, and
// no files of the test.
func (h *Hosts) Dir() string { return h.dir }

// Command runs a program on host i in the directory of the test. The process of
// the command is the program itself, so signals reach it.
func (h *Hosts) Command(i int, name string, args ...string) *exec.Cmd {
	dir, err := os.Getwd()
	if err != nil {
		h.t.Fatalf("hosttest: %v", err)
	}
	return h.CommandIn(i, dir, name, args...)
}

// CommandIn is Command with another directory. The field Dir of exec.Cmd has no effect,
// since a process loses its directory when it enters the namespaces of the host.
func (h *Hosts) CommandIn(i int, dir, name string, args ...string) *exec.Cmd {
	return h.host[i].command(append([]string{"env", "-C", dir, name}, args...)...)
}

// Inside runs fn on a thread in the network of host i: sockets that fn makes
// belong to that host. Sockets of goroutines that fn starts do not.
func (h *Hosts) Inside(i int, fn func() error) error {
	return sys.InNetwork(h.host[i].cmd.Process.Pid, fn)
}

// Cut separates host i from all others. No kernel notices, as with a switch that
// drops frames: the link stays up, and frames are lost at its other end.
func (h *Hosts) Cut(i int) {
	h.t.Helper()
	h.hub.must(h.t, fmt.Sprintf("link set h%d nomaster", i))
}

// Join undoes Cut.
func (h *Hosts) Join(i int) {
	h.t.Helper()
	h.hub.must(h.t, fmt.Sprintf("link set h%d master br0", i))
}

// anchor starts a process that runs script in new namespaces, and waits until the
// script is done.
func (h *Hosts) anchor(script string) (*anchor, error) {
	a := &anchor{cmd: exec.Command("unshare", "--net", "--mount", "--uts", "--ipc",
		"sh", "-ec", script+"\necho ready\nread end || :")}
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var said strings.Builder
	a.cmd.Stderr = &said
	in, err := a.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	a.stdin = in
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		in.Close()
		return nil, fmt.Errorf("namespaces cannot be set up: %v, %v: %s", err, a.cmd.Wait(), said.String())
	}
	a.net, err = os.Readlink(fmt.Sprintf("/proc/%d/ns/net", a.cmd.Process.Pid))
	if err != nil {
		in.Close()
		return nil, err
	}
	return a, nil
}

// command is a program in the namespaces of the anchor.
func (a *anchor) command(words ...string) *exec.Cmd {
	args := append([]string{"--target", fmt.Sprint(a.cmd.Process.Pid), "--net", "--mount", "--uts", "--ipc", "--"}, words...)
	return exec.Command("nsenter", args...)
}

// ip runs lines of ip(8) in the network of the anchor.
func (a *anchor) ip(lines ...string) error {
	cmd := a.command("ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(lines, "; "), err, out)
	}
	return nil
}

func (a *anchor) must(t testing.TB, lines ...string) {
	t.Helper()
	if err := a.ip(lines...); err != nil {
		t.Fatalf("hosttest: %v", err)
	}
}

// connect lays a cable from each host to the bridge in the hub.
func (h *Hosts) connect() error {
	lines := []string{"link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0", mute("br0"), "link set br0 up"}
	for i, a := range h.host {
		lines = append(lines,
			fmt.Sprintf("link add h%d type veth peer name eth0 netns %d", i, a.cmd.Process.Pid),
			mute(fmt.Sprintf("h%d", i)),
			fmt.Sprintf("link set h%d master br0 up", i))
	}
	if err := h.hub.ip(lines...); err != nil {
		return err
	}
	for i, a := range h.host {
		if err := a.ip(h.address(i)...); err != nil {
			return err
		}
	}
	return nil
}

// mute returns the line of ip(8) that keeps IPv6 addresses from a device of the hub, which is the
// bridge or a port of it.
func mute(device string) string {
	if !hasIPv6() {
		return ""
	}
	return fmt.Sprintf("link set %s addrgenmode none", device)
}

func hasIPv6() bool {
	_, err := os.Stat("/proc/sys/net/ipv6")
	return err == nil
}

// address returns the lines of ip(8) that give device eth0 of host i its addresses,
// usable at once. The hardware address is always the same, because other hosts cache it.
func (h *Hosts) address(i int) []string {
	lines := []string{
		fmt.Sprintf("link set eth0 address 02:00:00:00:00:%02x", i+1),
		fmt.Sprintf("addr add %s/24 dev eth0", h.Addr(i)),
	}
	if hasIPv6() {
		lines = append(lines, fmt.Sprintf("addr add %s/64 dev eth0 nodad", h.Addr6(i)))
	}
	return append(lines, "link set eth0 up")
}

// warden waits for the end of its input and then kills whatever runs in the
// network namespaces named by its arguments from the second on; the first is
// the directory of the hosts. A process may start another before it is killed, so
// the warden repeats this until it finds none.
const warden = `
trap '' HUP INT QUIT TERM
dir=$1; shift
read end
while :; do
	found=
	for ns in "$@"; do
		for p in $(find /proc/[0-9]*/ns/net -lname "net:\[$ns\]" 2>/dev/null); do
			p=${p#/proc/}; kill -KILL "${p%%/*}" 2>/dev/null; found=1
		done
	done
	[ "$found" ] || break
	sleep 0.02
done
rm -rf -- "$dir"
`

// guard starts the warden. It inherits the namespaces, open: as long as it looks for their processes, no new namespace
// gets the number of one of them, so that it kills no process of other hosts.
func (h *Hosts) guard() error {
	args := []string{"-c", warden, "halo-hosttest-warden", h.dir}
	var spaces []*os.File
	for _, a := range append([]*anchor{h.hub}, h.host...) {
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", a.cmd.Process.Pid))
		if err != nil {
			return err
		}
		defer f.Close()
		spaces = append(spaces, f)
		args = append(args, strings.Trim(a.net, "net:[]"))
	}
	h.ward = exec.Command("sh", args...)
	h.ward.ExtraFiles = spaces
	h.ward.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := h.ward.StdinPipe()
	if err != nil {
		return err
	}
	if err := h.ward.Start(); err != nil {
		return err
	}
	h.off = in
	return nil
}

// close ends all hosts.
func (h *Hosts) close() {
	for _, w := range h.wire {
		w.close()
	}
	if h.off != nil {
		h.off.Close()
		if err := h.ward.Wait(); err != nil {
			h.t.Errorf("hosttest: warden: %v", err)
		}
	}
	for _, a := range append(h.host, h.hub) {
		if a != nil {
			a.stdin.Close()
			a.cmd.Wait() // killed by the warden, or ended with its input
		}
	}
	h.daemons.Wait()
	if err := os.RemoveAll(h.dir); err != nil {
		h.t.Errorf("hosttest: %v", err)
	}
}

// path is a file of the hosts.
func (h *Hosts) path(name string) string { return filepath.Join(h.dir, name) }

// await calls a function until it succeeds, for as long as a busy machine may need.
func await(try func() error) (err error) {
	for end := time.Now().Add(testrun.Long); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		err = try()
		if err == nil {
			return nil
		}
	}
	return err
}
