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
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/ps"
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
	out   *outbox // nil until the agent is being started
	pulse liveness

	dialling bool          // its agent is being started
	pause    time.Duration // until the host is tried again
	last     string        // why the attempt before this one has failed
	greeted  bool          // the agent has sent Hello
	mute     time.Duration // how long nothing had arrived when the end of the attempt began
	over     bool          // the agent has ended, or was given up

	feeds map[stream2]*feed
	input *carrier
	shown chan<- string // takes an answer to kindShow

	looked *ps.JobState // the answer to the last kindLook, nil if none has come
}

// read reads the frames of the agent, after any text that its host prints first.
func (r *remote) read(a *attempt) {
	banner, rest, err := findMagic(a.link)
	r.job.post(func() { a.banner = banner })
	if err == nil {
		r.pulse.beat()
		frames := frame.Reader{Source: livenessReader{io.MultiReader(bytes.NewReader(rest), a.link), &r.pulse}, Limit: maxPlan}
		for err == nil {
			var kind uint8
			var body []byte
			kind, body, err = frames.Next()
			switch {
			case err != nil:
			case kind == kindBeat:
				r.pulse.take(body)
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
	if !r.greeted && kind != kindHello {
		r.lose(exit.Launcher, "%s does not keep to the protocol: frame of kind %d instead of a greeting", r.host, kind)
		return
	}
	j := r.job
	switch kind {
	case kindHello:
		r.greet(&b)
		return
	case kindReady:
		r.host.cores, r.host.addr, r.host.sshd = int(b.U32()), b.Text(), b.Text()
		why := wording.Printable(b.Text())
		r.host.ready = true
		j.verbosely("%s is ready: %d cores, address %s", r.host.name, r.host.cores, r.host.addr)
		if why != "" {
			j.verbosely("%s: %s", r.host.name, why)
		}
		j.advance()
		return
	case kindWant:
		index, low := int(b.U32()), b.U32()
		if offset := int64(low) | int64(b.U32())<<32; !b.Bad {
			r.piece(index, offset)
		}
	case kindReached:
		r.host.failures, r.host.reached = b.Words(), true
		j.advance()
		return
	case kindTrouble:
		status := int(b.U32())
		r.lose(status, "%s: %s", r.host.name, wording.Printable(string(b.Left)))
		return
	case kindDone:
		r.finished()
		return
	case kindShown:
		if r.shown != nil {
			r.shown <- string(body)
			r.shown = nil
		}
		return
	case kindLooked:
		r.looked, _ = ps.DecodeJobState(body, time.Now()) // nil is as if none had come
		return
	case kindInputTaken:
		if r.input != nil {
			r.input.took(int(b.U32()))
		}
		return
	case kindExchanged:
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
	case kindStarted:
		pid, cpus := int(b.U32()), make([]int, 0, 8)
		for n := b.U32(); n > 0 && !b.Bad; n-- {
			cpus = append(cpus, int(b.U32()))
		}
		j.isRunning(j.ranks[rank], pid, cpus)
	case kindFailed:
		j.failed(rank, wording.Printable(string(b.Left)))
	case kindJoined:
		j.joined(rank, decodeJoining(int(b.U32())))
	case kindInit:
		j.init(rank)
	case kindInUse:
		j.inUse(rank, b.U32() != 0)
	case kindPublished:
		j.published(rank, b.Left)
	case kindLookup:
		j.lookup(rank, int(int32(b.U32())))
	case kindSpawn:
		if number, _, err := boot.DecodeSpawn(b.Left); err == nil {
			j.spawn(rank, number, b.Left)
		} else {
			b.Bad = true
		}
	case kindGiveUp:
		j.giveUp(rank, b.U32())
	case kindName:
		q := pmi1.NameRequest{Verb: pmi1.NameVerb(b.U8()), Service: b.Text(), Port: b.Text()}
		if !b.Bad {
			j.service(rank, q)
		}
	case kindFinalized:
		j.finalized(rank)
	case kindAborted:
		code := int(int32(b.U32()))
		j.aborted(rank, code, string(b.Left))
	case kindLinkEnded:
		var err error
		switch how, text := b.U32(), wording.Printable(string(b.Left)); how {
		case linkBroken:
			err = errors.New(text)
		case linkVersion:
			err = refusal(text)
		}
		j.linkEnded(rank, err)
	case kindOther:
		runs := b.U32() != 0
		j.other(rank, wording.Printable(string(b.Left)), runs)
	case kindEnded:
		status := syscall.WaitStatus(b.U32())
		j.ended(rank, status, wording.Printable(string(b.Left)))
	case kindOutput:
		if f := r.feeds[stream2{rank, int(b.U8())}]; f == nil || f.add(b.Left) != nil {
			b.Bad = true
		}
	case kindOutputEnd:
		if f := r.feeds[stream2{rank, int(b.U8())}]; f != nil {
			f.finish()
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
	if bad || version != agentVersion || others != own {
		r.lose(exit.CannotRun, "%s on %s is of another version of Halo (there: %s, agent %d, %s; here: %s, agent %d, %s): install the same on all hosts",
			r.path, r.host.name, build, version, wording.Printable(others), boot.Build(), agentVersion, own)
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
		if len(peers) == maxPeers {
			break
		}
	}
	body := frame.New(0).Text(r.job.spec.Iface).Text(r.job.spec.Ports).Words(peers).Bytes()[frame.HeadSize:]
	r.out.send(frame.New(kindPlan).Raw(body).Raw(r.share.Encode()).Bytes())
}

// ended is called when ssh, the frames of the agent or the output of ssh itself have ended.
// The host is lost, or tried again, when all three have, or endTimeout later, because another
// process that ssh has started may keep its output open, or ssh may hang.
func (r *remote) ended(a *attempt) {
	if r.attempt != a || r.over {
		return
	}
	if r.mute == 0 {
		r.mute = r.pulse.age()
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
		f.finish()
	}
}

// The methods below make remote the node of its host.

func (r *remote) start(input *os.File) error {
	for _, k := range r.host.ranks {
		for which := range k.streams {
			f := newFeed(func(n int) {
				r.out.send(frame.New(kindOutputTaken).U32(uint32(k.index)).U32(uint32(which)).U32(uint32(n)).Bytes())
			})
			r.feeds[stream2{k.index, which}] = f
			r.job.carry(k, which, f)
		}
	}
	r.out.send(frame.New(kindStart).Bytes())
	if input != nil { // after Start, because the agent accepts no input before
		r.input = newCarrier(input,
			func(b []byte) { r.out.send(frame.New(kindInput).Raw(b).Bytes()) },
			func() { r.out.send(frame.New(kindInputEnd).Bytes()) })
		go r.input.run()
	}
	return nil
}

func (r *remote) signal(s syscall.Signal) {
	r.out.send(frame.New(kindSignal).U32(uint32(s)).Bytes())
}

// table asks the agent for the table of its ranks. The returned function waits for the
// answer.
func (r *remote) table() func() string {
	answer := make(chan string, 1)
	r.shown = answer
	r.out.send(frame.New(kindShow).Bytes())
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

func (r *remote) tell(reason string) { r.out.send(words(kindOver, reason)) }

func (r *remote) deliver(table []byte) { r.out.send(frame.New(kindTable).Raw(table).Bytes()) }

func (r *remote) found(rank, of int, value []byte, why string) {
	r.out.send(frame.New(kindFound).U32(uint32(rank)).U32(uint32(of)).Text(why).Raw(value).Bytes())
}

func (r *remote) named(rank int, a nameAnswer) {
	r.out.send(frame.New(kindNamed).U32(uint32(rank)).Text(a.why).Raw([]byte(a.port)).Bytes())
}

func (r *remote) spawned(rank int, number uint32, s *boot.Spawned) {
	r.out.send(s.Encode(frame.New(kindSpawned).U32(uint32(rank)).U32(number)).Bytes())
}

func (r *remote) noExchange(rank int) { r.out.send(words(kindNoExchange, "", rank)) }

// finish sends Finish, unless the agent has not received a plan.
func (r *remote) finish() {
	if !r.greeted {
		r.finished()
		return
	}
	r.out.send(frame.New(kindFinish).Bytes())
}
