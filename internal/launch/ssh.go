//go:build unix

package launch

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/sys"
)

// sshCommand is the command that starts a program on another host: the default asks no
// questions, and gives up if a host does not answer. Of two settings of an option ssh takes the first.
func sshCommand(args []string) []string {
	return append(append([]string{"ssh", "-T", "-x"}, args...), "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
}

// plainLink is a link that carries bytes only.
type plainLink struct{ link *sys.Link }

func (l plainLink) Write(b []byte) (int, error) { return len(b), l.link.Write(b, nil) }

func (l plainLink) Read(b []byte) (int, error) {
	n, files, err := l.link.Read(b)
	for _, f := range files {
		f.Close()
	}
	return n, err
}

// Close implements io.Closer.
func (l plainLink) Close() error { return l.link.Close() }

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail bounds the output of ssh that is shown when it fails, in bytes.
const maxTail = 2048

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(b), nil
}

// String is the text in one line of printable characters.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return wording.OneLine(string(t.text))
}

// why explains the end of an agent.
func (r *remote) why() string {
	said := r.said.String()
	ssh, name := "it ended its output", r.job.starter.name
	code := -1
	if s := r.status; s != nil && s.Signaled() {
		ssh = fmt.Sprintf("%s was killed by %s", name, sys.SignalName(s.Signal()))
	} else if s != nil {
		code = s.ExitStatus()
		ssh = fmt.Sprintf("%s exited with status %d", name, code)
	}
	if said != "" {
		ssh += ": " + said
	}
	if r.greeted && r.mute > talk.Silence { // the warden was faster than the launcher to give it up
		return fmt.Sprintf("%s has sent nothing for %v, and its agent is gone (%s)", r.host, r.mute.Round(100*time.Millisecond), ssh)
	}
	if r.greeted {
		return fmt.Sprintf("the agent on %s is gone (%s)", r.host, ssh)
	}
	hint := ""
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(strings.ToLower(said), w) {
				return true
			}
		}
		return false
	}
	switch {
	case code == 126:
		hint = fmt.Sprintf("%s cannot be executed there", r.path)
	case has("could not resolve", "name or service not known"):
		hint = "no host of that name is known: see -host, -hostfile, /etc/hosts"
	case has("permission denied", "too many authentication failures"):
		hint = "it refused the key: ssh " + r.host.name + " true must work without a password"
	case has("host key verification failed"):
		hint = "its key is not the known one, or not known yet: ssh " + r.host.name + " once by hand"
	case has("connection refused"):
		hint = "no ssh daemon listens there"
	case has("timed out", "no route to host", "network is unreachable"):
		hint = "it is down, or a firewall is between"
	case code == 127 || has("no such file or directory", "not found"):
		hint = fmt.Sprintf("is halo there as %s? -halo names another path", r.path)
	}
	if banner := wording.OneLine(r.banner); banner != "" {
		ssh += fmt.Sprintf("; it printed %.200q", banner)
	}
	text := fmt.Sprintf("cannot start an agent on %s: %s", r.host.name, ssh)
	if hint != "" {
		text += " (" + hint + ")"
	}
	return text
}
