//go:build unix

package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/pmi1"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/agent"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/ps"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/sys"
)

// A remote is the launcher's side of the agent on another host. The launcher's loop owns it,
// except for read and the outbox.
type remote struct {
	job   *job
	host  *host
	share *plan.Share
	path  string // path of the agent's program on that host
	*attempt
	out   *talk.Outbox // nil until the agent is being started
	pulse talk.Liveness

	dialling bool          // its agent is being started
	pause    time.Duration // until the host is tried again
	last     string        // why the attempt before this one has failed
	greeted  bool          // the agent has sent Hello
	mute     time.Duration // how long nothing had arrived when the end of the attempt began
	over     bool          // the agent has ended, or was given up

	feeds map[talk.Stream]*talk.Feed
	input *talk.Carrier
	shown chan<- string // takes an answer to talk.KindShow

	looked *ps.JobState // the answer to the last talk.KindLook, nil if none has come
}

// read reads the frames of the agent, after any text that its host prints first.
func (r *remote) read(a *attempt) {
	banner, rest, err := talk.FindMagic(a.link)
	r.job.post(func() { a.banner = banner })
	if err == nil {
		r.pulse.Beat()
		frames := frame.Reader{Source: talk.LivenessReader{From: io.MultiReader(bytes.NewReader(rest), a.link), Liveness: &r.pulse}, Limit: talk.MaxFrame}
		for err == nil {
			var kind uint8
			var body []byte
			kind, body, err = frames.Next()
			switch {
			case err != nil:
			case kind == talk.KindBeat:
				r.pulse.Take(body)
			default:
				body = append([]byte(nil), body...)
				r.job.post(func() { r.take(kind, body) })
			}
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || sys.LinkReset(err) {
		err = nil
	}
	r.job.post(func() {
		a.closed = true
		if err != nil && r.attempt == a {
			r.lose(exit.Launcher, "%s does not keep to the protocol: %v", r.host, err)
		}
		r.ended(a)
	})
}

// take handles a frame of the agent.
func (r *remote) take(kind uint8, body []byte) {
	if r.over {
		return
	}
	b := frame.Body{Left: body}
	if !r.greeted && kind != talk.KindHello {
		r.lose(exit.Launcher, "%s does not keep to the protocol: frame of kind %d instead of a greeting", r.host, kind)
		return
	}
	j := r.job
	switch kind {
	case talk.KindHello:
		r.greet(&b)
		return
	case talk.KindReady:
		r.host.cores, r.host.addr, r.host.sshd = int(b.U32()), b.Text(), b.Text()
		why := wording.Printable(b.Text())
		r.host.ready = true
		j.verbosely("%s is ready: %d cores, address %s", r.host.name, r.host.cores, r.host.addr)
		if why != "" {
			j.verbosely("%s: %s", r.host.name, why)
		}
		j.advance()
		return
	case talk.KindWant:
		index, low := int(b.U32()), b.U32()
		if offset := int64(low) | int64(b.U32())<<32; !b.Bad {
			r.out.Send(frame.New(talk.KindPiece).Raw(reach.ReadPiece(r.share.Pushes, index, offset)).Bytes())
		}
	case talk.KindReached:
		r.host.failures, r.host.reached = b.Words(), true
		j.advance()
		return
	case talk.KindTrouble:
		status := int(b.U32())
		r.lose(status, "%s: %s", r.host.name, wording.Printable(string(b.Left)))
		return
	case talk.KindDone:
		r.finished()
		return
	case talk.KindShown:
		if r.shown != nil {
			r.shown <- string(body)
			r.shown = nil
		}
		return
	case talk.KindLooked:
		r.looked, _ = ps.DecodeJobState(body, time.Now()) // nil is as if none had come
		return
	case talk.KindInputTaken:
		if r.input != nil {
			r.input.Took(int(b.U32()))
		}
		return
	case talk.KindExchanged:
		values := make([][]byte, len(r.host.ranks))
		for i := range values {
			values[i] = b.Take(b.U16())
		}
		if b.Done() {
			j.gather(r.host, values)
			return
		}
		b.Bad = true
	default:
		if rank := int(b.U32()); rank < len(j.ranks) && j.ranks[rank].host == r.host && !b.Bad {
			r.report(kind, rank, &b)
		} else {
			b.Bad = true
		}
	}
	if b.Bad {
		r.lose(exit.Launcher, "%s does not keep to the protocol: frame of kind %d with %d bytes", r.host, kind, len(body))
	}
}

// report handles a frame of the agent about one rank.
func (r *remote) report(kind uint8, rank int, b *frame.Body) {
	j := r.job
	switch kind {
	case talk.KindStarted:
		pid, cpus := int(b.U32()), make([]int, 0, 8)
		for n := b.U32(); n > 0 && !b.Bad; n-- {
			cpus = append(cpus, int(b.U32()))
		}
		j.isRunning(j.ranks[rank], pid, cpus)
	case talk.KindFailed:
		j.Failed(rank, wording.Printable(string(b.Left)))
	case talk.KindJoined:
		j.Joined(rank, talk.DecodeJoining(int(b.U32())))
	case talk.KindInit:
		j.Init(rank)
	case talk.KindInUse:
		j.InUse(rank, b.U32() != 0)
	case talk.KindPublished:
		j.Published(rank, b.Left)
	case talk.KindLookup:
		j.Lookup(rank, int(int32(b.U32())))
	case talk.KindSpawn:
		if number, _, err := boot.DecodeSpawn(b.Left); err == nil {
			j.Spawn(rank, number, b.Left)
		} else {
			b.Bad = true
		}
	case talk.KindGiveUp:
		j.GiveUp(rank, b.U32())
	case talk.KindName:
		q := pmi1.NameRequest{Verb: pmi1.NameVerb(b.U8()), Service: b.Text(), Port: b.Text()}
		if !b.Bad {
			j.Service(rank, q)
		}
	case talk.KindFinalized:
		j.Finalized(rank)
	case talk.KindAborted:
		code := int(int32(b.U32()))
		j.Aborted(rank, code, string(b.Left))
	case talk.KindLinkEnded:
		var err error
		switch how, text := b.U32(), wording.Printable(string(b.Left)); how {
		case talk.LinkBroken:
			err = errors.New(text)
		case talk.LinkVersion:
			err = refusal(text)
		}
		j.LinkEnded(rank, err)
	case talk.KindOther:
		runs := b.U32() != 0
		j.Other(rank, wording.Printable(string(b.Left)), runs)
	case talk.KindEnded:
		status := syscall.WaitStatus(b.U32())
		j.Ended(rank, status, wording.Printable(string(b.Left)))
	case talk.KindOutput:
		if f := r.feeds[talk.Stream{Rank: rank, Which: int(b.U8())}]; f == nil || f.Add(b.Left) != nil {
			b.Bad = true
		}
	case talk.KindOutputEnd:
		if f := r.feeds[talk.Stream{Rank: rank, Which: int(b.U8())}]; f != nil {
			f.Finish()
		}
	default:
		b.Bad = true
	}
}

// A refusal is the text of a boot.VersionError on another host.
type refusal string

func (r refusal) Error() string { return string(r) }

// greet handles Hello: it compares the versions and sends the plan.
func (r *remote) greet(b *frame.Body) {
	version, others := b.U16(), b.Text()
	own := boot.Versions()
	bad := b.Bad
	build := wording.Printable(b.Text()) // "" from agents of older versions
	if build == "" {
		build = "of unknown version"
	}
	if bad || version != talk.Version || others != own {
		r.lose(exit.CannotRun, "%s on %s is of another version of Halo (there: %s, agent %d, %s; here: %s, agent %d, %s): install the same on all hosts",
			r.path, r.host.name, build, version, wording.Printable(others), boot.Build(), talk.Version, own)
		return
	}
	r.greeted = true
	r.dialled()
	var peers []string
	for _, h := range r.job.hosts {
		if h != r.host {
			_, name, ok := strings.Cut(h.name, "@")
			if !ok {
				name = h.name
			}
			peers = append(peers, name)
		}
		if len(peers) == reach.MaxPeers {
			break
		}
	}
	body := frame.New(0).Text(r.job.spec.Iface).Text(r.job.spec.Ports).Words(peers).Bytes()[frame.HeadSize:]
	r.out.Send(frame.New(talk.KindPlan).Raw(body).Raw(r.share.Encode()).Bytes())
}

// ended is called when ssh, the frames of the agent or the output of ssh itself have ended.
// The host is lost, or tried again, when all three have, or endTimeout later, because another
// process that ssh has started may keep its output open, or ssh may hang.
func (r *remote) ended(a *attempt) {
	if r.attempt != a || r.over {
		return
	}
	if r.mute == 0 {
		r.mute = r.pulse.Age()
	}
	lose := func() {
		if r.attempt == a && !r.over && !r.again() {
			r.lose(exit.Launcher, "%s", r.why())
		}
	}
	switch {
	case a.closed && a.silent && a.status != nil:
		lose()
	case a.closed && a.step != nil: // the step goes on for other hosts
		time.AfterFunc(stepEndTimeout, func() { r.job.post(lose) })
	default:
		time.AfterFunc(endTimeout, func() { r.job.post(lose) })
	}
}

// endTimeout bounds the time between the end of ssh and the end of its output, in either order.
const endTimeout = time.Second

// lose ends the job because the host can no longer take part in it.
func (r *remote) lose(status int, format string, args ...any) {
	if r.over {
		return
	}
	r.finished()
	r.job.lost(r.host, status, fmt.Sprintf(format, args...))
}

// finished releases an agent that has sent its last frame.
func (r *remote) finished() {
	r.over = true
	r.hangUp()
	r.dialled()
	for _, f := range r.feeds {
		f.Finish()
	}
}

// The methods below make remote the node of its host.

func (r *remote) Start(input *os.File) error {
	for _, k := range r.host.ranks {
		for which := range k.streams {
			f := talk.NewFeed(func(n int) {
				r.out.Send(frame.New(talk.KindOutputTaken).U32(uint32(k.index)).U32(uint32(which)).U32(uint32(n)).Bytes())
			})
			r.feeds[talk.Stream{Rank: k.index, Which: which}] = f
			r.job.carry(k, which, f)
		}
	}
	r.out.Send(frame.New(talk.KindStart).Bytes())
	if input != nil { // after Start, because the agent accepts no input before
		r.input = talk.NewCarrier(input,
			func(b []byte) { r.out.Send(frame.New(talk.KindInput).Raw(b).Bytes()) },
			func() { r.out.Send(frame.New(talk.KindInputEnd).Bytes()) })
		go r.input.Run()
	}
	return nil
}

func (r *remote) Signal(s syscall.Signal) {
	r.out.Send(frame.New(talk.KindSignal).U32(uint32(s)).Bytes())
}

// table asks the agent for the table of its ranks. The returned function waits for the
// answer.
func (r *remote) table() func() string {
	answer := make(chan string, 1)
	r.shown = answer
	r.out.Send(frame.New(talk.KindShow).Bytes())
	name := r.host.String()
	return func() string {
		select {
		case text := <-answer:
			return name + ": " + text
		case <-time.After(showTimeout / 2):
			return name + " does not tell what its ranks wait for"
		}
	}
}

func (r *remote) Tell(reason string) { r.out.Send(talk.Frame(talk.KindOver, reason)) }

func (r *remote) Deliver(table []byte) { r.out.Send(frame.New(talk.KindTable).Raw(table).Bytes()) }

func (r *remote) Found(rank, of int, value []byte, why string) {
	r.out.Send(frame.New(talk.KindFound).U32(uint32(rank)).U32(uint32(of)).Text(why).Raw(value).Bytes())
}

func (r *remote) Named(rank int, a agent.NameAnswer) {
	r.out.Send(frame.New(talk.KindNamed).U32(uint32(rank)).Text(a.Why).Raw([]byte(a.Port)).Bytes())
}

func (r *remote) Spawned(rank int, number uint32, s *boot.Spawned) {
	r.out.Send(s.Encode(frame.New(talk.KindSpawned).U32(uint32(rank)).U32(number)).Bytes())
}

func (r *remote) NoExchange(rank int) { r.out.Send(talk.Frame(talk.KindNoExchange, "", rank)) }

// Finish sends Finish, unless the agent has not received a plan.
func (r *remote) Finish() {
	if !r.greeted {
		r.finished()
		return
	}
	r.out.Send(frame.New(talk.KindFinish).Bytes())
}
