package hosttest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// sshd must be started by its full path.
const sshd = "/usr/sbin/sshd"

// configure writes throw-away keys, the configurations of daemon and client,
// and the names of all hosts.
func (h *Hosts) configure(n int) error {
	for _, key := range []string{"client", "server"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", h.path(key)).CombinedOutput(); err != nil {
			return fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	server, err := os.ReadFile(h.path("server.pub"))
	if err != nil {
		return err
	}
	client, err := os.ReadFile(h.path("client.pub"))
	if err != nil {
		return err
	}
	shadow, err := os.ReadFile("/etc/shadow")
	if err != nil {
		return err
	}
	lines := strings.Split(string(shadow), "\n")
	for i, l := range lines { // sshd refuses keys of a locked account
		if f := strings.Split(l, ":"); f[0] == "root" && len(f) > 2 {
			f[1] = "*"
			lines[i] = strings.Join(f, ":")
		}
	}
	names := "127.0.0.1 localhost\n::1 localhost\n"
	for i := range n {
		names += fmt.Sprintf("%s %s\n", h.Addr(i), h.Name(i))
		if six := h.Addr6(i); six != "" {
			names += fmt.Sprintf("%s %s\n", six, h.Name(i))
		}
	}
	for name, text := range map[string]string{
		"authorized": string(client),
		"known":      "host*,10.99.0.*,fd99::* " + string(server),
		"hosts":      names,
		"shadow":     strings.Join(lines, "\n"),
		// With SHLVL the shell of a session is not the first one, and does not read the startup files of the
		// user. These may take locks, which a test that kills the session would leave behind.
		"sshd_config": fmt.Sprintf("SetEnv SHLVL=1\nHostKey %s\nAuthorizedKeysFile %s\nPermitRootLogin yes\nPasswordAuthentication no\n"+
			"UsePAM no\nStrictModes no\nPidFile none\nMaxStartups 100:30:200\nUseDNS no\n", h.path("server"), h.path("authorized")),
		"ssh_config": fmt.Sprintf("Host *\n IdentityFile %s\n IdentitiesOnly yes\n UserKnownHostsFile %s\n GlobalKnownHostsFile /dev/null\n"+
			" StrictHostKeyChecking yes\n BatchMode yes\n LogLevel ERROR\n", h.path("client"), h.path("known")),
	} {
		if err := os.WriteFile(h.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, public := range []string{".", "hosts"} { // for name resolution by other users
		if err := os.Chmod(h.path(public), 0o755); err != nil {
			return err
		}
	}
	h.ssh = []string{"ssh", "-F", h.path("ssh_config")}
	return nil
}

// setUp is the script that turns new namespaces into host i: hostname, shared memory, run-time
// files, and names of the other hosts.
func (h *Hosts) setUp(i int) string {
	return fmt.Sprintf(`
hostname host%d
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mkdir -m 755 /run/sshd
mount --bind '%s' /etc/hosts
mount --bind '%s' /etc/shadow
ip link set lo up`, i, h.path("hosts"), h.path("shadow"))
}

// serve starts the ssh daemon of host i and waits until it listens.
func (h *Hosts) serve(i int) error {
	log, err := os.Create(h.path(fmt.Sprintf("sshd%d.log", i)))
	if err != nil {
		return err
	}
	defer log.Close()
	daemon := h.host[i].command(sshd, "-D", "-e", "-f", h.path("sshd_config"))
	daemon.Stderr = log
	if err := daemon.Start(); err != nil {
		return err
	}
	h.daemons.Go(func() { daemon.Wait() })
	return await(func() error {
		return h.Inside(i, func() error {
			c, err := net.DialTimeout("tcp", "127.0.0.1:22", time.Second)
			if err == nil {
				c.Close()
			}
			return err
		})
	})
}
