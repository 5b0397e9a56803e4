//go:build unix

package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
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
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/sys"
)

// An agentProcess is the agent of a host in a process of its own: halo agent, started by ssh.
// It executes the launcher's requests and reports to the launcher. If it loses the launcher
// it exits, and its host is cleaned up like the launcher's host: the kernel kills the ranks,
// and the warden the rest. If it is stopped or hangs, the warden kills it.
type agentProcess struct {
	agent  *Agent
	out    *talk.Outbox
	events chan func()
	pulse  talk.Liveness
	paused atomic.Bool // the launcher was stopped, and sends nothing

	probe    *reach.Probe
	carriers map[talk.Stream]*talk.Carrier
	carrying sync.WaitGroup
	input    *talk.Feed   // nil: the rank that reads it is elsewhere
	fetch    *reach.Fetch // nil: the programs are here
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

// Main is the main function of the agent's process.
func Main(in io.Reader, out io.Writer) int {
	KeepThreads(ThreadsOfLauncher)
	s := &agentProcess{events: make(chan func(), 64), carriers: map[talk.Stream]*talk.Carrier{}}
	s.agent = New(s, s.post)
	s.out = talk.NewOutbox(out)
	hello := frame.New(talk.KindHello).U16(talk.Version).Text(boot.Versions()).Text(boot.Build()).Bytes()
	s.out.Send(append([]byte(talk.Magic), hello...))
	s.pulse.Beat()
	go s.out.Beat()
	go s.live()
	go s.read(in)
	if os.Getenv(reach.EnvSrunAddress) != "" {
		// scancel sends SIGTERM to all processes of a job: the ranks and the launcher decide what it means.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	}
	children := ChildSignals(signal.Notify)
	for {
		select {
		case f := <-s.events:
			f()
		case <-children:
			if s.agent.share != nil {
				s.agent.Reap()
			}
		}
	}
}

func (s *agentProcess) post(f func()) { s.events <- f }

// live checks the heartbeats of the launcher.
func (s *agentProcess) live() {
	for range time.Tick(talk.BeatInterval) {
		if silent := s.pulse.Since(); s.paused.Load() {
			s.pulse.Beat()
		} else if silent > s.pulse.Limit() {
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
	r := frame.Reader{Source: talk.LivenessReader{From: in, Liveness: &s.pulse}, Limit: talk.MaxFrame}
	for {
		kind, body, err := r.Next()
		if errors.Is(err, io.EOF) {
			s.leave("the launcher is gone")
		} else if err != nil {
			s.leave(err.Error())
		}
		if kind == talk.KindBeat {
			s.pulse.Take(body)
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

// trouble reports that this host cannot continue, and ends the process.
func (s *agentProcess) trouble(status int, err error) {
	s.out.Send(talk.Frame(talk.KindTrouble, err.Error(), status))
	s.out.Flush(time.Second)
	s.leave(err.Error())
}

// do executes a request of the launcher.
func (s *agentProcess) do(kind uint8, b frame.Body) error {
	a := s.agent
	if a.share == nil && kind != talk.KindPlan && kind != talk.KindFinish {
		return fmt.Errorf("the launcher sent a frame of kind %d before the plan", kind)
	}
	switch kind {
	case talk.KindPlan:
		return s.plan(b.Left)
	case talk.KindPiece:
		if s.fetch == nil {
			return errors.New("the launcher sent a program that nobody wants")
		}
		done, err := s.fetch.Take(b.Left)
		if err != nil || !done {
			return err
		}
		s.fetch.Use(a.share.Apps)
		return s.ready()
	case talk.KindReach:
		var targets []reach.Target
		list := b.Words()
		for i := 0; i+1 < len(list); i += 2 {
			targets = append(targets, reach.Target{Name: list[i], Addr: list[i+1]})
		}
		go func() {
			s.out.Send(frame.New(talk.KindReached).Words(reach.TryAll(targets)).Bytes())
		}()
	case talk.KindStart:
		return s.start()
	case talk.KindSignal:
		n := syscall.Signal(b.U32())
		s.paused.Store(n == syscall.SIGTSTP || n != syscall.SIGCONT && s.paused.Load())
		a.Signal(n)
	case talk.KindOver:
		a.Tell(string(b.Left))
	case talk.KindTable:
		a.server.Deliver(b.Left) // as boot.EncodeTable made it
	case talk.KindNoExchange:
		a.server.Finalized(int(b.U32()))
	case talk.KindFound:
		rank, of, why := int(b.U32()), int(b.U32()), b.Text()
		a.Found(rank, of, b.Left, why)
	case talk.KindNamed:
		rank, why := int(b.U32()), b.Text()
		a.Named(rank, NameAnswer{string(b.Left), why})
	case talk.KindSpawned:
		rank, number := int(b.U32()), b.U32()
		a.Spawned(rank, number, boot.DecodeSpawned(&b))
	case talk.KindInput:
		if s.input == nil {
			return errors.New("the launcher sent input to a host that does not start the rank that reads it, or not yet")
		}
		return s.input.Add(b.Left)
	case talk.KindInputEnd:
		if s.input != nil {
			s.input.Finish()
		}
	case talk.KindOutputTaken:
		if c := s.carriers[talk.Stream{Rank: int(b.U32()), Which: int(b.U32())}]; c != nil {
			c.Took(int(b.U32()))
		}
	case talk.KindShow:
		s.out.Send(frame.New(talk.KindShown).Raw([]byte(ps.Table(a.memory.Notes()))).Bytes())
	case talk.KindLook:
		if state, err := s.looker.Look(a.memory.Notes()); err == nil {
			if b, err := state.Encode(); err == nil {
				s.out.Send(frame.New(talk.KindLooked).Raw(b).Bytes())
			}
		}
	case talk.KindFinish:
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
	if err := s.agent.Open(ours.Mark()); err != nil {
		return err
	}
	s.agent.warden.keep()
	s.why = ""
	switch ours.Fabric {
	case "":
		ours.Fabric, s.why = DefaultFabric()
	case "shm":
		if err := SharedMemory(); err != nil {
			return err
		}
	}
	s.agent.Take(ours)
	if len(ours.Pushes) > 0 {
		s.fetch, err = reach.NewFetch(ours.Mark(), ours.Pushes, s.agent.warden.directory, func(index int, offset int64) {
			s.out.Send(frame.New(talk.KindWant).U32(uint32(index)).U32(uint32(offset)).U32(uint32(offset >> 32)).Bytes())
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
		if a := os.Getenv(reach.EnvSrunAddress); a != "" {
			peers = append(peers, a)
		}
		ours.Listen, err = reach.ListenAddress(s.about.iface, sshd, true, peers)
		if err == nil {
			s.probe, err = reach.OpenProbe(ours.Listen, s.about.ports)
		}
		if err != nil {
			return err
		}
	}
	addr := ""
	if s.probe != nil {
		addr = s.probe.Addr
	}
	s.out.Send(frame.New(talk.KindReady).U32(uint32(s.agent.cores)).Text(addr).Text(os.Getenv("SSH_CONNECTION")).Text(s.why).Bytes())
	return nil
}

// start starts the ranks.
func (s *agentProcess) start() error {
	s.probe.Close()
	var input *os.File
	if s.agent.share.Where[s.agent.share.Reader] == s.agent.share.Self {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		input = r
		s.input = talk.NewFeed(func(n int) { s.out.Send(frame.New(talk.KindInputTaken).U32(uint32(n)).Bytes()) })
		go func() {
			defer w.Close()
			io.Copy(w, s.input)
			io.Copy(io.Discard, s.input) // the rank has closed its stdin
		}()
	}
	return s.agent.Start(input)
}

// finish cleans up after the ranks. It ends the process when all output of the ranks has been
// sent, and all frames of their links.
func (s *agentProcess) finish() {
	if s.agent.share == nil {
		os.Exit(0)
	}
	s.agent.Sweep()
	for _, c := range s.carriers {
		c.Close()
	}
	go func() {
		s.carrying.Wait()
		s.post(func() {
			s.agent.afterLinks(func() {
				s.fetch.Remove()
				s.agent.Retire()
				s.out.Send(frame.New(talk.KindDone).Bytes())
				s.out.Flush(talk.Silence)
				os.Exit(0)
			})
		})
	}()
}

// The agentProcess is the reporter of its agent.

func (s *agentProcess) Started(rank, pid int, cpus []int, pipes [2]*os.File) {
	w := frame.New(talk.KindStarted).U32(uint32(rank)).U32(uint32(pid)).U32(uint32(len(cpus)))
	for _, c := range cpus {
		w.U32(uint32(c))
	}
	s.out.Send(w.Bytes())
	for which, pipe := range pipes {
		c := talk.NewCarrier(pipe,
			func(b []byte) {
				s.out.Send(frame.New(talk.KindOutput).U32(uint32(rank)).U8(uint8(which)).Raw(b).Bytes())
			},
			func() { s.out.Send(frame.New(talk.KindOutputEnd).U32(uint32(rank)).U8(uint8(which)).Bytes()) })
		s.carriers[talk.Stream{Rank: rank, Which: which}] = c
		s.carrying.Go(c.Run)
	}
}

func (s *agentProcess) Failed(rank int, why string) {
	s.out.Send(talk.Frame(talk.KindFailed, why, rank))
}

func (s *agentProcess) Joined(rank int, how talk.Joining) {
	s.out.Send(talk.Frame(talk.KindJoined, "", rank, how.Encode()))
}

func (s *agentProcess) Init(rank int) { s.out.Send(talk.Frame(talk.KindInit, "", rank)) }

func (s *agentProcess) InUse(rank int, used bool) {
	s.out.Send(talk.Frame(talk.KindInUse, "", rank, talk.Flag(used)))
}

func (s *agentProcess) Published(rank int, value []byte) {
	s.out.Send(frame.New(talk.KindPublished).U32(uint32(rank)).Raw(value).Bytes())
}

func (s *agentProcess) Lookup(rank, of int) { s.out.Send(talk.Frame(talk.KindLookup, "", rank, of)) }

func (s *agentProcess) Spawn(rank int, _ uint32, body []byte) {
	s.out.Send(frame.New(talk.KindSpawn).U32(uint32(rank)).Raw(body).Bytes())
}

func (s *agentProcess) GiveUp(rank int, number uint32) {
	s.out.Send(talk.Frame(talk.KindGiveUp, "", rank, int(number)))
}

func (s *agentProcess) Exchanged(values [][]byte) {
	w := frame.New(talk.KindExchanged)
	for _, v := range values {
		w.U16(len(v)).Raw(v)
	}
	s.out.Send(w.Bytes())
}

func (s *agentProcess) Finalized(rank int) { s.out.Send(talk.Frame(talk.KindFinalized, "", rank)) }

func (s *agentProcess) Aborted(rank, code int, reason string) {
	s.out.Send(talk.Frame(talk.KindAborted, reason, rank, code))
}

func (s *agentProcess) LinkEnded(rank int, err error) {
	text, kind := "", talk.LinkFine
	var version *boot.VersionError
	if err != nil {
		text, kind = err.Error(), talk.LinkBroken
	}
	if errors.As(err, &version) {
		kind = talk.LinkVersion
	}
	s.out.Send(talk.Frame(talk.KindLinkEnded, text, rank, kind))
}

func (s *agentProcess) Service(rank int, r pmi1.NameRequest) {
	s.out.Send(frame.New(talk.KindName).U32(uint32(rank)).U8(uint8(r.Verb)).Text(r.Service).Text(r.Port).Bytes())
}

func (s *agentProcess) Other(rank int, library string, runs bool) {
	s.out.Send(talk.Frame(talk.KindOther, library, rank, talk.Flag(runs)))
}

func (s *agentProcess) Ended(rank int, status syscall.WaitStatus, note string) {
	s.out.Send(talk.Frame(talk.KindEnded, note, rank, int(status)))
}

// CallMain is the main function of an agent that calls the launcher.
func CallMain(in io.Reader) int {
	stream, err := reach.AnswerInvitation(in)
	if err != nil {
		name, _ := os.Hostname()
		fmt.Fprintf(os.Stderr, "halo agent on %s: %v\n", name, err)
		return 1
	}
	return Main(stream, stream)
}

// LimitsOfThreads lists the limits of this process, which its children have, too.
func LimitsOfThreads() string {
	var parts []string
	if n, ok := sys.LimitOfGroup(); ok {
		parts = append(parts, fmt.Sprintf("the control group allows %d processes and threads (pids.max)", n))
	}
	if n, ok := sys.LimitOfUser(); ok {
		parts = append(parts, fmt.Sprintf("the user may have %d processes and threads (ulimit -u)", n))
	}
	if n, ok := sys.LimitOfAddresses(); ok {
		parts = append(parts, fmt.Sprintf("the address space of a process is limited to %d KiB (ulimit -v), Halo reserves some 2 GiB", n>>10))
	}
	if parts == nil {
		return "ulimit -u or ulimit -v may be narrower in what starts the program, or the system has no more threads"
	}
	return strings.Join(parts, "; ")
}
