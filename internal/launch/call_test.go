//go:build linux

package launch

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/wire"
)

// invite makes an invitation for two nodes, and the launcher's key.
func invite(t testing.TB) (*invitation, *ecdh.PrivateKey) {
	t.Helper()
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	v := &invitation{job: "7-abc", public: wire.PublicKey(own), names: []string{"n1", "n2"}, addresses: []string{"10.0.0.1:5"}}
	rand.Read(v.key[:])
	return v, own
}

// changing is a connection that changes the last byte of what is written when it is on.
type changing struct {
	net.Conn
	on bool
}

func (c *changing) Write(b []byte) (int, error) {
	if c.on {
		b = append([]byte{}, b...)
		b[len(b)-1] ^= 1
	}
	return c.Conn.Write(b)
}

// meet connects a caller to the launcher. The results are those of call and answer.
func meet(v *invitation, own *ecdh.PrivateKey, caller func(net.Conn) (*sealedStream, error)) (a, b *sealedStream, index int, callErr, answerErr error) {
	mine, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, callErr = caller(mine)
		if callErr != nil {
			mine.Close()
		}
	}()
	index, b, answerErr = v.answer(theirs, own)
	if answerErr != nil {
		theirs.Close()
	}
	<-done
	return a, b, index, callErr, answerErr
}

// An invited agent and the launcher get a stream for bytes of any number, both ways.
func TestInvitedAgentsCall(t *testing.T) {
	v, own := invite(t)
	body := v.encode()
	again, err := decodeInvitation(body[frame.HeadSize:])
	if err != nil || !reflect.DeepEqual(again, v) {
		t.Fatalf("%+v, %v", again, err)
	}
	a, b, index, callErr, answerErr := meet(v, own, func(c net.Conn) (*sealedStream, error) { return again.call(c, 1) })
	if callErr != nil || answerErr != nil || index != 1 {
		t.Fatalf("index %d, %v, %v", index, callErr, answerErr)
	}
	text := bytes.Repeat([]byte("0123456789"), 50000)
	for _, x := range [][2]*sealedStream{{a, b}, {b, a}} {
		go func() {
			for rest := text; len(rest) > 0; {
				n := min(len(rest), 1+len(rest)/3)
				x[0].Write(rest[:n])
				rest = rest[n:]
			}
			x[0].Write([]byte("end"))
		}()
		got := make([]byte, len(text)+3)
		if _, err := io.ReadFull(x[1], got); err != nil || !bytes.Equal(got, append(text[:len(text):len(text)], "end"...)) {
			t.Fatalf("what arrives differs: %v", err)
		}
	}
}

// S3: who has not the key of the invitation, or another one's key, cannot call; and who is not the
// launcher gets no proof.
func TestStrangersCannotCall(t *testing.T) {
	v, own := invite(t)
	other, otherOwn := invite(t)
	stranger := *v
	stranger.key = other.key
	elsewhere := *v
	elsewhere.job = "another"
	impostor := *v
	impostor.public = other.public
	for name, caller := range map[string]func(net.Conn) (*sealedStream, error){
		"another key":     func(c net.Conn) (*sealedStream, error) { return stranger.call(c, 0) },
		"another job":     func(c net.Conn) (*sealedStream, error) { return elsewhere.call(c, 0) },
		"another node":    func(c net.Conn) (*sealedStream, error) { return v.call(c, 2) },
		"for an impostor": func(c net.Conn) (*sealedStream, error) { return impostor.call(c, 0) },
		"no key": func(c net.Conn) (*sealedStream, error) {
			c.Write(bytes.Repeat([]byte("A"), publicSize+wire.HelloSize))
			return nil, io.EOF
		},
		"text": func(c net.Conn) (*sealedStream, error) {
			c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
			return nil, io.EOF
		},
	} {
		if _, _, _, callErr, answerErr := meet(v, own, caller); answerErr == nil || callErr == nil {
			t.Errorf("%s: %v, %v", name, callErr, answerErr)
		}
	}
	// An agent does not accept a launcher that has not the key of the invitation.
	mine, theirs := net.Pipe()
	go func() {
		other.answer(theirs, otherOwn)
		theirs.Close()
	}()
	if _, err := v.call(mine, 0); err == nil {
		t.Error("an agent has called a stranger")
	}
	// Bytes that were changed on their way end the stream.
	var way *changing
	a, b, _, _, _ := meet(v, own, func(c net.Conn) (*sealedStream, error) {
		way = &changing{Conn: c}
		return v.call(way, 0)
	})
	way.on = true
	go a.Write([]byte("hello"))
	if n, err := b.Read(make([]byte, 10)); err == nil {
		t.Errorf("%d bytes of a changed piece were read", n)
	}
}

func FuzzInvitation(f *testing.F) {
	v, _ := invite(f)
	f.Add(v.encode()[frame.HeadSize:])
	f.Add([]byte{1, 0, 'a'})
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := decodeInvitation(body)
		if err == nil && (len(v.names) == 0 || !bytes.Equal(v.encode()[frame.HeadSize:], body) && len(v.job) <= frame.MaxText && len(v.public) <= frame.MaxText) {
			t.Fatalf("%+v from %d bytes", v, len(body))
		}
	})
}

// fakeSrun replaces srun: it starts a process for each node with the same input, here.
const fakeSrun = `#!/bin/sh
[ "$1" = --version ] && { echo slurm-wlm 22.05.8; exit 0; }
[ "$FAKE_SRUN" = fails ] && { echo "srun: error: Unable to create step: Invalid job" >&2; exit 1; }
cat >"$FAKE_DIR/input"
while [ "${1#--}" != "$1" ]; do
	case $1 in
	--nodelist=*) nodes=$(echo "${1#--nodelist=}" | tr , ' ') ;;
	esac
	shift
done
for n in $nodes; do
	[ $n = n2 ] && [ "$FAKE_SRUN" = lost ] && n=n3
	SLURMD_NODENAME=$n SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 "$@" <"$FAKE_DIR/input" &
done
wait
`

// stepRun prepares halo run in a job of a pretended Slurm with two nodes of two slots.
func stepRun(t *testing.T, mode string, args ...string) *run {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte(fakeSrun), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRun(t, append([]string{"-iface", "lo"}, args...)...)
	r.cmd.Env = append(r.cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"), "FAKE_DIR="+dir, "FAKE_SRUN="+mode,
		"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=2(x2)")
	return r
}

// X-LCH-01: one step starts the agents of all nodes, which call the launcher; its ends are explained.
func TestAgentsOfAStep(t *testing.T) {
	t.Parallel()
	stepRun(t, "", "rank", "init", "exchange", "job", "finalize").start().wait(0).quiet().printed(
		"rank 0 of 4 local [0 1] fabric shm app 0 secret true", "rank 1 of 4 local [0 1] fabric shm app 0 secret true",
		"rank 2 of 4 local [2 3] fabric shm app 0 secret true", "rank 3 of 4 local [2 3] fabric shm app 0 secret true")
	stepRun(t, "", "rank", "init", "exchange", "3@exit:3", "forever").start().wait(3).said("rank 3 ", "on n2", "exited with status 3")
	stepRun(t, "fails", "rank").start().wait(125).said("cannot start an agent on n", "srun exited with status 1: srun: error: Unable to create step: Invalid job")
	stepRun(t, "lost", "-ssh-timeout", "2s", "rank").start().wait(125).said("not ready within 2s: n2 (srun has not connected: halo agent on ", "this node is none of n1, n2")

	ready := filepath.Join(t.TempDir(), "ready")
	killed := stepRun(t, "", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	syscall.Kill(parent(t, killed.ready(ready, 4)[3]), syscall.SIGKILL)
	killed.wait(125).said("the agent on n2 (ranks 2-3) is gone")

	late := stepRun(t, "", "rank", "init", "exchange", "ready:"+ready+"2", "forever").start()
	late.ready(ready+"2", 4)
	begin := time.Now()
	late.cmd.Process.Signal(syscall.SIGKILL)
	late.wait(137)
	t.Logf("nothing is left %v after the launcher was killed", time.Since(begin).Round(time.Millisecond))
	if strings.Contains(late.stderr.String(), "panic") {
		t.Error(late.stderr.String())
	}
}
