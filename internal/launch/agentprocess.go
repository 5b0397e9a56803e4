//go:build unix

package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/pmi1"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/ps"
)

// An agentProcess is the agent of a host in a process of its own: halo agent, started by ssh.
// It executes the launcher's requests and reports to the launcher. If it loses the launcher
// it exits, and its host is cleaned up like the launcher's host: the kernel kills the ranks,
// and the warden the rest. If it is stopped or hangs, the warden kills it.
type agentProcess struct {
	agent  *agent
	out    *outbox
	events chan func()
	pulse  liveness
	paused atomic.Bool // the launcher was stopped, and sends nothing

	probe    *probe
	carriers map[stream2]*carrier
	carrying sync.WaitGroup
	input    *feed  // nil: the rank that reads it is elsewhere
	fetch    *fetch // nil: the programs are here
	about    addressing
	looker   ps.Looker
	why      string // it uses another fabric than expected, "" if it does not
}

// addressing is what the launcher says about how hosts reach each other.
type addressing struct {
	iface string
	ports string   // at which the host listens, "" for any
	peers []string // names of other hosts
}

// stream2 names stdout or stderr of a rank.
type stream2 struct{ rank, which int }

// agentMain is the main function of the agent's process.
func agentMain(in io.Reader, out io.Writer) int {
	keepThreads(threadsOfLauncher)
	s := &agentProcess{events: make(chan func(), 64), carriers: map[stream2]*carrier{}}
	s.agent = &agent{up: s, post: s.post}
	s.out = newOutbox(out)
	hello := frame.New(kindHello).U16(agentVersion).Text(boot.Versions()).Text(boot.Build()).Bytes()
	s.out.send(append([]byte(agentMagic), hello...))
	s.pulse.beat()
	go s.out.beat()
	go s.live()
	go s.read(in)
	if os.Getenv(envSrunAddress) != "" {
		// scancel sends SIGTERM to all processes of a job: the ranks and the launcher decide what it means.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	}
	children := childSignals(signal.Notify)
	for {
		select {
		case f := <-s.events:
			f()
		case <-children:
			if s.agent.share != nil {
				s.agent.reap()
			}
		}
	}
}

func (s *agentProcess) post(f func()) { s.events <- f }

// live checks the heartbeats of the launcher.
func (s *agentProcess) live() {
	for range time.Tick(beatInterval) {
		if silent := s.pulse.since(); s.paused.Load() {
			s.pulse.beat()
		} else if silent > s.pulse.limit() {
			s.leave(fmt.Sprintf("nothing was heard from the launcher for %v", silent.Round(100*time.Millisecond)))
		}
	}
}

// leave ends this process. The kernel and the warden then end all processes that it has started.
func (s *agentProcess) leave(why string) {
	name, _ := os.Hostname()
	fmt.Fprintf(os.Stderr, "halo agent on %s: %s\n", name, why)
	os.Exit(1)
}

// read reads the launcher's frames until the connection ends.
func (s *agentProcess) read(in io.Reader) {
	// The limit allows a plan with the greatest numbers of ranks, hosts and words.
	r := frame.Reader{Source: livenessReader{in, &s.pulse}, Limit: maxPlan}
	for {
		kind, body, err := r.Next()
		if errors.Is(err, io.EOF) {
			s.leave("the launcher is gone")
		} else if err != nil {
			s.leave(err.Error())
		}
		if kind == kindBeat {
			s.pulse.take(body)
			continue
		}
		body = append([]byte(nil), body...)
		s.post(func() {
			if err := s.do(kind, frame.Body{Left: body}); err != nil {
				s.trouble(exit.Launcher, err)
			}
		})
	}
}

// maxPlan bounds frames to an agent, in bytes: the largest holds the values of
// all ranks.
const maxPlan = boot.MaxRanks*(boot.MaxValue+2) + 1<<20

// trouble reports that this host cannot continue, and ends the process.
func (s *agentProcess) trouble(status int, err error) {
	s.out.send(words(kindTrouble, err.Error(), status))
	s.out.flush(time.Second)
	s.leave(err.Error())
}

// do executes a request of the launcher.
func (s *agentProcess) do(kind uint8, b frame.Body) error {
	a := s.agent
	if a.share == nil && kind != kindPlan && kind != kindFinish {
		return fmt.Errorf("the launcher sent a frame of kind %d before the plan", kind)
	}
	switch kind {
	case kindPlan:
		return s.plan(b.Left)
	case kindPiece:
		if s.fetch == nil {
			return errors.New("the launcher sent a program that nobody wants")
		}
		done, err := s.fetch.take(b.Left)
		if err != nil || !done {
			return err
		}
		s.fetch.use(a.share.Apps)
		return s.ready()
	case kindReach:
		var targets []target
		list := b.Words()
		for i := 0; i+1 < len(list); i += 2 {
			targets = append(targets, target{list[i], list[i+1]})
		}
		go func() {
			s.out.send(frame.New(kindReached).Words(tryAll(targets)).Bytes())
		}()
	case kindStart:
		return s.start()
	case kindSignal:
		n := syscall.Signal(b.U32())
		s.paused.Store(n == syscall.SIGTSTP || n != syscall.SIGCONT && s.paused.Load())
		a.signal(n)
	case kindOver:
		a.tell(string(b.Left))
	case kindTable:
		a.server.Deliver(b.Left) // as boot.EncodeTable made it
	case kindNoExchange:
		a.server.Finalized(int(b.U32()))
	case kindFound:
		rank, of, why := int(b.U32()), int(b.U32()), b.Text()
		a.found(rank, of, b.Left, why)
	case kindNamed:
		rank, why := int(b.U32()), b.Text()
		a.named(rank, nameAnswer{string(b.Left), why})
	case kindSpawned:
		rank, number := int(b.U32()), b.U32()
		a.spawned(rank, number, boot.DecodeSpawned(&b))
	case kindInput:
		if s.input == nil {
			return errors.New("the launcher sent input to a host that does not start the rank that reads it, or not yet")
		}
		return s.input.add(b.Left)
	case kindInputEnd:
		if s.input != nil {
			s.input.finish()
		}
	case kindOutputTaken:
		if c := s.carriers[stream2{int(b.U32()), int(b.U32())}]; c != nil {
			c.took(int(b.U32()))
		}
	case kindShow:
		s.out.send(frame.New(kindShown).Raw([]byte(ps.Table(a.memory.Notes()))).Bytes())
	case kindLook:
		if state, err := s.looker.Look(a.memory.Notes()); err == nil {
			if b, err := state.Encode(); err == nil {
				s.out.send(frame.New(kindLooked).Raw(b).Bytes())
			}
		}
	case kindFinish:
		s.finish()
	default:
		return fmt.Errorf("the launcher sent a frame of kind %d", kind)
	}
	return nil
}

// plan takes this host's share of the job, and checks whether it can be run.
func (s *agentProcess) plan(body []byte) error {
	r := frame.Body{Left: body}
	s.about = addressing{r.Text(), r.Text(), r.Words()}
	ours, err := plan.DecodeShare(r.Left)
	if err != nil || r.Bad || s.agent.share != nil {
		return fmt.Errorf("the launcher's plan is broken: %v", err)
	}
	if err := s.agent.open(ours.Mark()); err != nil {
		return err
	}
	s.agent.warden.keep()
	s.why = ""
	switch ours.Fabric {
	case "":
		ours.Fabric, s.why = defaultFabric()
	case "shm":
		if err := sharedMemory(); err != nil {
			return err
		}
	}
	s.agent.take(ours)
	if len(ours.Pushes) > 0 {
		s.fetch, err = newFetch(ours.Mark(), ours.Pushes, s.agent.warden, func(index int, offset int64) {
			s.out.send(frame.New(kindWant).U32(uint32(index)).U32(uint32(offset)).U32(uint32(offset >> 32)).Bytes())
		})
		return err // ready follows with the last piece
	}
	return s.ready()
}

// ready checks whether the programs can be started, opens the address on which the other hosts reach
// this one, and tells the launcher.
func (s *agentProcess) ready() (err error) {
	ours, peers := s.agent.share, s.about.peers
	for _, r := range s.agent.ranks {
		if err := program.Check(&ours.Apps[ours.AppOf(r)]); err != nil {
			var start *exit.Error
			if errors.As(err, &start) {
				s.trouble(start.Status, err)
			}
			return err
		}
	}
	ours.Listen = boot.Loopback
	if len(ours.Hosts) > 1 || ours.Far {
		sshd := os.Getenv("SSH_CONNECTION")
		if a := os.Getenv(envSrunAddress); a != "" {
			peers = append(peers, a)
		}
		ours.Listen, err = listenAddress(s.about.iface, sshd, true, peers)
		if err == nil {
			s.probe, err = openProbe(ours.Listen, s.about.ports)
		}
		if err != nil {
			return err
		}
	}
	addr := ""
	if s.probe != nil {
		addr = s.probe.addr
	}
	s.out.send(frame.New(kindReady).U32(uint32(s.agent.cores)).Text(addr).Text(os.Getenv("SSH_CONNECTION")).Text(s.why).Bytes())
	return nil
}

// start starts the ranks.
func (s *agentProcess) start() error {
	s.probe.close()
	var input *os.File
	if s.agent.share.Where[s.agent.share.Reader] == s.agent.share.Self {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		input = r
		s.input = newFeed(func(n int) { s.out.send(frame.New(kindInputTaken).U32(uint32(n)).Bytes()) })
		go func() {
			defer w.Close()
			io.Copy(w, s.input)
			io.Copy(io.Discard, s.input) // the rank has closed its stdin
		}()
	}
	return s.agent.start(input)
}

// finish cleans up after the ranks. It ends the process when all output of the ranks has been
// sent, and all frames of their links.
func (s *agentProcess) finish() {
	if s.agent.share == nil {
		os.Exit(0)
	}
	s.agent.sweep()
	for _, c := range s.carriers {
		c.close()
	}
	go func() {
		s.carrying.Wait()
		s.post(func() {
			s.agent.afterLinks(func() {
				s.fetch.remove()
				s.agent.retire()
				s.out.send(frame.New(kindDone).Bytes())
				s.out.flush(silence)
				os.Exit(0)
			})
		})
	}()
}

// The agentProcess is the reporter of its agent.

func (s *agentProcess) started(rank, pid int, cpus []int, pipes [2]*os.File) {
	w := frame.New(kindStarted).U32(uint32(rank)).U32(uint32(pid)).U32(uint32(len(cpus)))
	for _, c := range cpus {
		w.U32(uint32(c))
	}
	s.out.send(w.Bytes())
	for which, pipe := range pipes {
		c := newCarrier(pipe,
			func(b []byte) {
				s.out.send(frame.New(kindOutput).U32(uint32(rank)).U8(uint8(which)).Raw(b).Bytes())
			},
			func() { s.out.send(frame.New(kindOutputEnd).U32(uint32(rank)).U8(uint8(which)).Bytes()) })
		s.carriers[stream2{rank, which}] = c
		s.carrying.Go(c.run)
	}
}

func (s *agentProcess) failed(rank int, why string) { s.out.send(words(kindFailed, why, rank)) }

func (s *agentProcess) joined(rank int, how joining) {
	s.out.send(words(kindJoined, "", rank, how.encode()))
}

func (s *agentProcess) init(rank int) { s.out.send(words(kindInit, "", rank)) }

func (s *agentProcess) inUse(rank int, used bool) {
	s.out.send(words(kindInUse, "", rank, flag(used)))
}

func (s *agentProcess) published(rank int, value []byte) {
	s.out.send(frame.New(kindPublished).U32(uint32(rank)).Raw(value).Bytes())
}

func (s *agentProcess) lookup(rank, of int) { s.out.send(words(kindLookup, "", rank, of)) }

func (s *agentProcess) spawn(rank int, _ uint32, body []byte) {
	s.out.send(frame.New(kindSpawn).U32(uint32(rank)).Raw(body).Bytes())
}

func (s *agentProcess) giveUp(rank int, number uint32) {
	s.out.send(words(kindGiveUp, "", rank, int(number)))
}

func (s *agentProcess) exchanged(values [][]byte) {
	w := frame.New(kindExchanged)
	for _, v := range values {
		w.U16(len(v)).Raw(v)
	}
	s.out.send(w.Bytes())
}

func (s *agentProcess) finalized(rank int) { s.out.send(words(kindFinalized, "", rank)) }

func (s *agentProcess) aborted(rank, code int, reason string) {
	s.out.send(words(kindAborted, reason, rank, code))
}

func (s *agentProcess) linkEnded(rank int, err error) {
	text, kind := "", linkFine
	var version *boot.VersionError
	if err != nil {
		text, kind = err.Error(), linkBroken
	}
	if errors.As(err, &version) {
		kind = linkVersion
	}
	s.out.send(words(kindLinkEnded, text, rank, kind))
}

func (s *agentProcess) service(rank int, r pmi1.NameRequest) {
	s.out.send(frame.New(kindName).U32(uint32(rank)).U8(uint8(r.Verb)).Text(r.Service).Text(r.Port).Bytes())
}

func (s *agentProcess) other(rank int, library string, runs bool) {
	s.out.send(words(kindOther, library, rank, flag(runs)))
}

// flag encodes a bool in a frame.
func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

// How the link of a rank has ended.
const (
	linkFine = iota
	linkBroken
	linkVersion // the rank was refused
)

func (s *agentProcess) ended(rank int, status syscall.WaitStatus, note string) {
	s.out.send(words(kindEnded, note, rank, int(status)))
}
