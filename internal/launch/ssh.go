//go:build unix

package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// sshCommand is the command that starts a program on another host: the default asks no
// questions, and gives up if a host does not answer.
func sshCommand() []string {
	return []string{"ssh", "-T", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"}
}

// connect starts ssh, and with it the agent on the host.
func (j *job) connect(h *host, share *share) error {
	command := j.spec.SSH
	if command == nil {
		command = sshCommand()
	}
	file, err := exec.LookPath(command[0])
	if err != nil {
		return notFound("%s, which is to start agents on other hosts, was not found (-ssh names another command): %w", command[0], err)
	}
	r := &remote{job: j, host: h, share: share, path: j.spec.Agent, feeds: map[stream2]*feed{}}
	if r.path == "" {
		if r.path, err = os.Executable(); err != nil {
			return fmt.Errorf("cannot find the path of this program: %w; name it by -halo", err)
		}
	}
	link, theirs, err := sys.LinkPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	mine, errs, err := os.Pipe()
	if err != nil {
		link.Close()
		return err
	}
	defer errs.Close()
	var env []string
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name != envJob {
			env = append(env, kv)
		}
	}
	c := &child{file: file, argv: append(command[:len(command):len(command)], h.name, quote(r.path)+" "+agentWord),
		env: append(env, envJob+"="+j.mark), files: []*os.File{theirs, theirs, errs}}
	j.agent.spawner.do(func() { r.pid, err = j.agent.spawner.start(c) })
	if err != nil {
		link.Close()
		mine.Close()
		return fmt.Errorf("starting %s: %w", file, err)
	}
	j.agent.warden.started(r.pid)
	j.agent.others[r.pid] = func(s syscall.WaitStatus) {
		j.agent.warden.ended(r.pid)
		r.status = &s
		r.ended()
	}
	h.remote, h.node = r, r
	r.link, r.out, r.said = link, newOutbox(plainLink{link}), &tail{}
	r.pulse.beat()
	go func() {
		io.Copy(r.said, mine)
		mine.Close()
		j.post(func() {
			r.silent = true
			r.ended()
		})
	}()
	go r.read()
	return nil
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
	return oneLine(string(t.text))
}

// oneLine makes one line of printable characters from text of another program.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return printable(strings.Join(lines, "; "))
}

// findMagic reads up to the start of an agent's frames. banner is the text before it, or
// all text if it is missing; rest is what was read after it.
func findMagic(from io.Reader) (banner string, rest []byte, err error) {
	var text []byte
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		text = append(text, b[:n]...)
		if at := bytes.Index(text, []byte(agentMagic)); at >= 0 {
			return string(text[:at]), text[at+len(agentMagic):], nil
		}
		if err == nil && len(text) > bannerLimit {
			err = fmt.Errorf("%d bytes without the greeting of a Halo agent: %q", len(text), oneLine(string(text[:80])))
		}
		if err != nil {
			return string(text), nil, err
		}
	}
}

// why explains the end of an agent.
func (r *remote) why() string {
	said := r.said.String()
	ssh := "it ended its output"
	code := -1
	if s := r.status; s != nil && s.Signaled() {
		ssh = fmt.Sprintf("ssh was killed by %s", sys.SignalName(s.Signal()))
	} else if s != nil {
		code = s.ExitStatus()
		ssh = fmt.Sprintf("ssh exited with status %d", code)
	}
	if said != "" {
		ssh += ": " + said
	}
	if r.greeted && r.mute > silence { // the warden was faster than the launcher to give it up
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
	if banner := oneLine(r.banner); banner != "" {
		ssh += fmt.Sprintf("; it printed %.200q", banner)
	}
	text := fmt.Sprintf("cannot start an agent on %s: %s", r.host.name, ssh)
	if hint != "" {
		text += " (" + hint + ")"
	}
	return text
}
