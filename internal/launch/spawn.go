//go:build unix

package launch

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/planted"
)

// A process of the family asks for a job: the launcher looks for its programs, and builds those that are
// packages, in a goroutine; then the loop places the processes on free slots, and starts them as it has
// started the first job. The request is answered when all of them have called Init. Until then the end of
// one of them ends the new job only.

// A request is what a job was started for.
type request struct {
	rank   int // of the parent
	number uint32
	what   *boot.Spawn
	counts []int // by block: how many processes are started
	short  string
	timer  *time.Timer // of the timeout; nil: none
}

// Spawn is called when a rank asks for a job.
func (j *job) Spawn(rank int, number uint32, body []byte) {
	if j.ends() {
		return
	}
	_, what, err := boot.DecodeSpawn(body)
	if err != nil { // the server of the rank has decoded it before
		j.linkFailed(j.ranks[rank], err)
		return
	}
	if len(what.Blocks) == 0 {
		j.reply(rank, number, &boot.Spawned{Counts: []int{j.freeSlots()}})
		return
	}
	j.spawned++
	c := &job{family: j.family, parent: j, asked: &request{rank: rank, number: number, what: what}, here: -1,
		id: fmt.Sprintf("%s.%d", j.id, j.spawned), mark: j.mark, fabric: j.fabric, port: what.Parent, apart: what.Apart}
	rand.Read(c.secret[:])
	spec := *j.first().spec
	spec.Blocks, spec.Hosts, spec.Timeout, spec.Warnings, spec.Ignored, spec.Bind, spec.ByRank = nil, nil, 0, nil, nil, "none", false
	for i, b := range what.Blocks {
		if i == 0 && b.Bind != "" {
			spec.Bind = strings.TrimPrefix(b.Bind, "auto")
		}
		spec.Blocks = append(spec.Blocks, plan.Block{Dir: b.Dir, Path: b.Path, Program: b.Program, Args: b.Args,
			Env: append(slices.Clone(j.appOf(rank).Env), b.Env...)})
	}
	c.spec = &spec
	c.agent = j.agent.Beside(c)
	j.jobs = append(j.jobs, c)
	if what.Timeout > 0 {
		c.asked.timer = time.AfterFunc(what.Timeout, func() {
			j.post(func() {
				c.end(exit.Timeout, "not all processes have called Init within %v: %s", what.Timeout, c.late())
			})
		})
	}
	c.builder = &program.Builder{Stderr: j.stderr.file, Mark: j.mark}
	atEnd := j.agent.RemoveAtEnd
	go func() {
		programs, err := c.find(what, atEnd)
		j.post(func() { c.start(programs, err) })
	}()
}

// find finds the programs of the job, and the hosts that its blocks name. It does not change anything that
// the loop uses.
func (j *job) find(what *boot.Spawn, atEnd func(dir string)) (programs []*program.Program, err error) {
	for i := range what.Blocks {
		b, to := &what.Blocks[i], &j.spec.Blocks[i]
		if b.Arch != "" && b.Arch != runtime.GOARCH {
			return nil, fmt.Errorf("no host of the architecture %s: they are %s", b.Arch, runtime.GOARCH)
		}
		to.Hosts, err = hostsOf(b)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(b.Dir); b.Dir != "" && len(to.Hosts) == 0 && (err != nil || !info.IsDir()) {
			return nil, fmt.Errorf("there is no directory %s", b.Dir)
		}
		if name := filepath.Join(b.Dir, b.Program); b.Dir != "" && !filepath.IsAbs(b.Program) {
			if _, err := os.Stat(name); err == nil {
				to.Program = name
			}
		}
		p, err := program.Find(to)
		if err != nil {
			return nil, err
		}
		to.Program = b.Program // argv[0] is the name that the parent has given
		programs = append(programs, p)
	}
	if !slices.ContainsFunc(programs, func(p *program.Program) bool { return p.Pkg != "" }) {
		return programs, nil
	}
	j.builder.Dir = filepath.Join(os.TempDir(), "halo-"+j.id)
	atEnd(j.builder.Dir)
	if err := os.Mkdir(j.builder.Dir, 0o700); err != nil {
		return nil, err
	}
	return programs, j.builder.Build(programs)
}

// hostsOf returns the hosts that a block names, this one by its own name.
func hostsOf(b *boot.SpawnBlock) (list []plan.HostSlots, err error) {
	if b.HostFile != "" {
		file := b.HostFile
		if !filepath.IsAbs(file) {
			file = filepath.Join(b.Dir, file)
		}
		list, err = plan.ParseHostFile(file)
		if err != nil {
			return nil, err
		}
	}
	if b.Hosts != "" {
		list, err = plan.ParseHosts(b.Hosts)
		if err != nil {
			return nil, err
		}
	}
	if list == nil {
		return nil, nil
	}
	return plan.MergeHosts(renamed(list, reach.AreLocal(hostNames(list)))), nil
}

// start places the processes of the job when its programs are known, and starts them.
func (j *job) start(programs []*program.Program, err error) {
	if j.ends() {
		return
	}
	if err == nil {
		err = j.placeFree()
	}
	if listen := j.parentFar(); err == nil && listen != "" {
		j.turnDown(&boot.Spawned{Listen: listen}, "")
		return
	}
	if err == nil {
		err = j.prepare(programs)
	}
	if err != nil {
		j.end(exit.Launcher, "%v", err)
		return
	}
	j.advance()
}

// placeFree places the ranks of a spawned job on free slots.
func (j *job) placeFree() error {
	free := map[string]int{} // hosts with a number of slots
	for _, h := range j.slots {
		if h.Slots > 0 {
			free[h.Host] = max(0, h.Slots-j.busy(h.Host, nil))
			if planted.SlotsUncounted {
				free[h.Host] = h.Slots
			}
		}
	}
	q := j.asked
	var hosts []string
	var where []int32
	for i := range j.spec.Blocks {
		b, asks := &j.spec.Blocks[i], &q.what.Blocks[i]
		among := b.Hosts
		if among == nil {
			among = j.slots
		}
		var list []plan.HostSlots
		fits, limited := 0, !j.spec.Oversubscribe
		for _, h := range among {
			left, stated := free[h.Host]
			switch {
			case !stated && h.Slots == 0:
				limited = false
			case stated && (h.Slots == 0 || left < h.Slots || b.Hosts == nil):
				h.Slots = left
			}
			fits += h.Slots
			if h.Slots > 0 || !stated {
				list = append(list, h)
			}
		}
		room := fits
		if !limited {
			room = asks.Max
		}
		b.N = min(asks.Max, room)
		if asks.Soft != "" {
			set, err := plan.ParseSoft(asks.Soft)
			if err != nil {
				return fmt.Errorf("soft: %w", err)
			}
			b.N = set.Within(b.N)
		}
		switch {
		case b.N == 0 || b.N < asks.Max && asks.Soft == "":
			numbers := fmt.Sprint(asks.Max)
			if asks.Soft != "" {
				numbers = fmt.Sprintf("%d, or as many as %q allows,", asks.Max, asks.Soft)
			}
			return fmt.Errorf("no room for %s processes of %s: %s free of those of the hosts (%s); name more hosts, or allow it by -oversubscribe",
				numbers, b.Program, wording.Count(fits, "slot"), plan.DescribeHosts(among))
		case b.N < asks.Max && q.short == "":
			q.short = fmt.Sprintf("%d of %d processes of %s were started: %d slots are free, and the set of numbers is %q", b.N, asks.Max, b.Program, room, asks.Soft)
		}
		q.counts = append(q.counts, b.N)
		if len(list) == 0 { // all are full, and may get more
			list = slices.Clone(among)
		}
		p, err := plan.NewPlacer(list, b.N, j.spec.MapBy == "node", j.spec.Oversubscribe)
		if err != nil {
			return err
		}
		for range b.N {
			name := p.Next()
			at := slices.Index(hosts, name)
			if at < 0 {
				at, hosts = len(hosts), append(hosts, name)
			}
			where = append(where, int32(at))
			if n, stated := free[name]; stated {
				free[name] = max(0, n-1)
			}
		}
	}
	j.settle(hosts, where, hostName())
	return nil
}

// late describes what a job that has not been started completely waits for.
func (j *job) late() string {
	if !j.begun {
		return "its processes have not been started"
	}
	var list []int
	for _, r := range j.ranks {
		if !r.World {
			list = append(list, r.index)
		}
	}
	return wording.Numbered("rank", list) + " did not"
}

// complete answers the request for the job, when all its ranks have called Init.
func (j *job) complete() {
	for _, r := range j.ranks {
		if !r.World && !planted.AnsweredEarly {
			return
		}
	}
	j.answer(&boot.Spawned{Job: j.id, Counts: j.asked.counts, Why: j.asked.short})
}

// refuse answers that the job was not started, and ends what there is of it.
func (j *job) refuse(reason string) { j.turnDown(&boot.Spawned{Why: reason}, reason) }

func (j *job) turnDown(answer *boot.Spawned, reason string) {
	j.refused = true
	j.builder.Stop()
	j.answer(answer)
	j.stop(reason)
}

// parentFar returns where the parent has to open its port, if that is at the loopback address and processes of the
// job are on other hosts: they were not among the hosts when the parent was started.
func (j *job) parentFar() string {
	rest, _ := strings.CutPrefix(j.asked.what.Parent, "halo://")
	port, _, _ := strings.Cut(rest, "/")
	if a, err := netip.ParseAddrPort(port); err != nil || !a.Addr().IsLoopback() || !j.beyond() {
		return ""
	}
	var names []string
	for _, h := range j.hosts {
		names = append(names, h.name)
	}
	listen, err := j.listenFor(names)
	if err != nil {
		return "" // the reason will be that the processes do not reach the port
	}
	return listen
}

// beyond reports whether processes of the job are on other hosts than this one.
func (j *job) beyond() bool {
	return slices.ContainsFunc(j.hosts, func(h *host) bool { return h.index != j.here })
}

func (j *job) answer(s *boot.Spawned) {
	q := j.asked
	j.asked = nil
	if q.timer != nil {
		q.timer.Stop()
	}
	if s.Job != "" {
		j.lasts = q
	}
	j.tellParent(q, s)
}

func (j *job) tellParent(q *request, s *boot.Spawned) { j.parent.reply(q.rank, q.number, s) }

// reply answers a request of a rank.
func (j *job) reply(rank int, number uint32, s *boot.Spawned) {
	if r := j.ranks[rank]; !r.ended && !r.host.gone() {
		r.host.node.Spawned(rank, number, s)
	}
}

// depart tells the parent that the job has ended, or ends because of a failure: the parent may wait for processes
// that have not reached its port.
func (j *job) depart(reason string) {
	if q := j.lasts; q != nil && !planted.EndUntold {
		j.lasts = nil
		j.tellParent(q, &boot.Spawned{Why: reason})
	}
}

// GiveUp is called when a rank no longer waits for a job.
func (j *job) GiveUp(rank int, number uint32) {
	for _, c := range j.jobs {
		if q := c.asked; c.parent == j && q != nil && q.rank == rank && q.number == number {
			c.end(0, "rank %d does not wait for it any longer", rank)
			return
		}
	}
}

// release lets go of a spawned job of which nothing is left.
func (j *job) release() {
	j.depart("all its processes have ended")
	j.agent.Leave()
	if dir := j.builder.Dir; dir != "" {
		os.RemoveAll(dir)
	}
}
