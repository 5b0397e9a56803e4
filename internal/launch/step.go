//go:build unix

package launch

import (
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
)

// A step is the process, such as srun, that starts the agents of several hosts.
type step struct {
	pid  int
	left int // hosts that have not hung up
	over bool
}

// hangUp is called when a host needs the step no more. The step ends by itself when all agents have, but
// for those that do not.
func (s *step) hangUp() {
	s.left--
	if s.left == 0 && !s.over {
		syscall.Kill(-s.pid, syscall.SIGKILL)
	}
}

// maxCallers bounds handshakes at the same time, with callers who may be anybody.
const maxCallers = 64

// stepEndTimeout is how long after the end of an agent the step may still say why.
const stepEndTimeout = 100 * time.Millisecond

// dialAll starts the agents of all hosts by one process, and waits for their calls.
func (j *job) dialAll(all []*remote) error {
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	listener, err := reach.ListenIn(j.spec.Ports, "")
	if err != nil {
		return fmt.Errorf("cannot wait for agents: %w", err)
	}
	var names []string
	for _, r := range all {
		names = append(names, r.host.name)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	addresses, err := reach.CallAddresses(j.spec.Iface, port)
	if err != nil {
		listener.Close()
		return err
	}
	v := reach.NewInvitation(j.id, own, names, addresses)
	s := &step{left: len(all)}
	said := &reach.Tail{}
	if err := j.startStep(s, said, v, all); err != nil {
		listener.Close()
		return err
	}
	for _, r := range all {
		r.attempt, r.dialling = &attempt{said: said, step: s}, true
		j.dialling++
	}
	j.awaitCalls(listener, own, v, all)
	return nil
}

// startStep starts the process of a step.
func (j *job) startStep(s *step, said *reach.Tail, v *reach.Invitation, all []*remote) error {
	in, give, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	mine, errs, err := os.Pipe()
	if err != nil {
		give.Close()
		return err
	}
	defer errs.Close()
	c := &agent.Child{File: j.starter.File, Argv: j.starter.Step(v.Names, all[0].path),
		Env: append(j.starter.Environ(os.Environ()), plan.EnvJob+"="+j.mark), Files: []*os.File{in, errs, errs}}
	s.pid, err = j.agent.StartOther(c, func(status syscall.WaitStatus) {
		s.over = true
		for _, r := range all {
			r.attempt.status = &status
			r.attempt.closed = r.attempt.closed || r.attempt.link == nil
			r.ended(r.attempt)
		}
	})
	if err != nil {
		give.Close()
		mine.Close()
		return fmt.Errorf("starting %s: %w", j.starter.File, err)
	}
	go func() {
		give.Write(v.Encode())
		give.Close()
	}()
	go func() {
		io.Copy(said, mine)
		mine.Close()
		j.post(func() {
			for _, r := range all {
				r.attempt.silent = true
				r.ended(r.attempt)
			}
		})
	}()
	return nil
}

// awaitCalls answers the calls of agents until all have called, or the time for it is over.
func (j *job) awaitCalls(listener net.Listener, own *ecdh.PrivateKey, v *reach.Invitation, all []*remote) {
	missing := len(all)
	time.AfterFunc(j.reachLimit(), func() { listener.Close() })
	slots := make(chan struct{}, maxCallers)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				index, stream, err := v.Answer(c, own)
				if err != nil {
					c.Close()
					return
				}
				j.post(func() {
					if !all[index].called(stream) {
						return
					}
					missing--
					if missing == 0 {
						listener.Close()
					}
				})
			}()
		}
	}()
}

// called is called when the agent has called. It reports whether that is the first time.
func (r *remote) called(stream *reach.SealedStream) bool {
	a := r.attempt
	if r.over || a.closed || a.link != nil {
		stream.Close()
		return false
	}
	a.link, r.out = stream, talk.NewOutbox(stream)
	r.pulse.Beat()
	go r.out.Beat()
	go r.read(a)
	return true
}
