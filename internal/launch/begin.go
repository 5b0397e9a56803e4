//go:build unix

package launch

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/program"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/launch/talk"
	"github.com/halo-mpi/halo/internal/launch/wording"
)

// A job starts in three steps: the launcher starts agents on all other hosts at the same time,
// and sends each its share of the job; every host tests whether it reaches the others; then all
// ranks start.

// reachTimeout bounds the time until all hosts are ready.
const reachTimeout = 30 * time.Second

// prepare makes the plan, and starts agents on the other hosts.
func (j *job) prepare(programs []*program.Program) error {
	settings := plan.PassedOn(os.Environ())
	for i, p := range programs {
		b := &j.spec.Blocks[i]
		j.apps = append(j.apps, plan.App{N: b.N, File: p.File, Argv: append([]string{b.Program}, b.Args...), Dir: b.Dir,
			Env: append(slices.Clone(settings), b.Env...), Psets: b.Psets})
	}
	common := plan.Share{ID: j.id, Secret: j.secret, Fabric: j.fabric, Bind: j.spec.Bind,
		Where: j.where, Listen: boot.Loopback, Universe: j.universe(), Parent: j.port, Far: j.far() || j.beyond(), Reader: j.spec.Reader}
	for _, h := range j.hosts {
		common.Hosts = append(common.Hosts, h.name)
	}
	for _, h := range j.hosts {
		s := common
		s.Self, s.Busy = h.index, j.busy(h.name, j)
		if h.index == j.here {
			s.Apps = j.apps
			if s.Far && len(j.hosts) == 1 {
				s.Listen = j.listenFar()
			}
			if err := j.stay(h, &s); err != nil {
				return err
			}
			continue
		}
		s.Fabric = j.spec.Fabric
		if s.Fabric == "" {
			s.Fabric = "" // the best fabric of the other host
		}
		var err error
		s.Apps, err = elsewhere(j.apps)
		if err != nil {
			return err
		}
		if j.spec.Push {
			s.Pushes, err = reach.Pushes(j.apps)
			if err != nil {
				return err
			}
		}
		if err := j.remote(h, &s); err != nil {
			return err
		}
	}
	if err := j.dial(); err != nil {
		return err
	}
	if j.several() {
		j.startBeats()
		timeout := j.reachLimit()
		time.AfterFunc(timeout, func() { j.post(func() { j.unreached(timeout) }) })
	}
	return nil
}

// reachLimit is how long all hosts may take to be ready.
func (j *job) reachLimit() time.Duration {
	switch {
	case j.spec.Reach != 0:
		return j.spec.Reach
	case j.spec.Await:
		return awaitTimeout
	}
	return reachTimeout
}

// stay gives the agent of this host its share.
func (j *job) stay(h *host, s *plan.Share) error {
	for _, r := range h.ranks {
		dir := s.Apps[s.AppOf(r.index)].Dir
		if dir == "" {
			continue
		}
		if info, err := os.Stat(dir); err != nil {
			return exit.CannotRunf("-wdir: %w", err)
		} else if !info.IsDir() {
			return exit.CannotRunf("-wdir: %s is not a directory", dir)
		}
	}
	h.node, h.ready, h.reached = j.agent, true, true
	j.agent.Take(s)
	return nil
}

// elsewhere returns apps for another host: apps without a directory run in the launcher's
// directory there too.
func elsewhere(apps []plan.App) ([]plan.App, error) {
	apps = slices.Clone(apps)
	for i := range apps {
		if apps[i].Dir != "" {
			continue
		}
		var err error
		apps[i].Dir, err = os.Getwd()
		if err != nil {
			return nil, err
		}
	}
	return apps, nil
}

// advance begins the next step of the start when every host is ready for it.
func (j *job) advance() {
	if j.begun || j.ends() {
		return
	}
	for _, h := range j.hosts {
		if !h.ready {
			return
		}
	}
	if !j.reaching {
		j.reaching = true
		if len(j.hosts) == 1 {
			j.hosts[0].reached = true
		} else if err := j.reach(); err != nil {
			j.end(exit.Launcher, "%v", err)
			return
		}
	}
	for _, h := range j.hosts {
		if !h.reached {
			return
		}
	}
	for _, h := range j.hosts {
		if len(h.failures) > 0 {
			j.end(exit.Launcher, "%s cannot reach %s: is a firewall between them? -iface names the network that the ranks shall use",
				h.name, strings.Join(h.failures, ", "))
			return
		}
	}
	if err := j.begin(); err != nil {
		j.end(exit.Launcher, "%v", err)
	}
}

// reach lets every host try to reach the others.
func (j *job) reach() error {
	if j.here >= 0 {
		if err := j.listen(j.hosts[j.here]); err != nil {
			return fmt.Errorf("%s: %w", j.hosts[j.here].name, err)
		}
	}
	all := make([]reach.Target, len(j.hosts))
	for i, h := range j.hosts {
		all[i] = reach.Target{Name: h.name, Addr: h.addr}
	}
	for i, h := range j.hosts {
		targets := reach.Others(all, i)
		if h.remote != nil {
			var list []string
			for _, t := range targets {
				list = append(list, t.Name, t.Addr)
			}
			h.remote.out.Send(frame.New(talk.KindReach).Words(list).Bytes())
			continue
		}
		h.reached = false
		go func() {
			failures := reach.TryAll(targets)
			j.post(func() {
				h.failures, h.reached = failures, true
				j.advance()
			})
		}()
	}
	return nil
}

// listen chooses the address on which the ranks of this host listen, when it is known how
// this host reaches the others.
func (j *job) listen(here *host) error {
	var peers []string
	sshd := ""
	for _, h := range j.hosts {
		if h == here {
			continue
		}
		sshd = h.sshd
		if addr, _, err := net.SplitHostPort(h.addr); err == nil {
			peers = append(peers, addr)
		}
	}
	addr, err := reach.ListenAddress(j.spec.Iface, sshd, false, peers)
	if err != nil {
		return err
	}
	j.agent.ListenOn(addr)
	j.probe, err = reach.OpenProbe(addr, j.spec.Ports)
	if err == nil {
		here.addr = j.probe.Addr
	}
	return err
}

// unreached ends a job because some hosts are not ready after timeout.
func (j *job) unreached(timeout time.Duration) {
	if j.begun || j.ends() {
		return
	}
	var silent []string
	for _, h := range j.hosts {
		switch r := h.remote; {
		case r == nil || h.ready && (h.reached || !j.reaching):
		case !r.greeted:
			text := fmt.Sprintf("%s (%s has not connected", h.name, j.starter.Name)
			if said := cmp.Or(r.said.String(), r.last); said != "" {
				text += ": " + said
			}
			if banner := wording.OneLine(r.banner); banner != "" {
				text += fmt.Sprintf("; it printed %.200q", banner)
			}
			silent = append(silent, text+")")
		case !h.ready:
			silent = append(silent, h.name+" (its agent does not answer)")
		default:
			silent = append(silent, h.name+" (it tries to reach the other hosts)")
		}
	}
	j.end(exit.Launcher, "not ready within %v: %s; -ssh-timeout gives hosts more time", timeout, strings.Join(silent, ", "))
}

// begin starts all ranks, without waiting for any.
func (j *job) begin() error {
	j.probe.Close()
	j.begun, j.running = true, len(j.ranks)
	defer func() {
		go func() {
			j.copying.Wait()
			j.post(func() {
				j.copied = true
				j.drain()
			})
		}()
	}()
	input, startInput, err := inputFor(j.stdin)
	if err != nil {
		return err
	}
	if j.several() {
		j.verbosely("job %s: %s on %s, fabric %s", j.id, wording.Count(len(j.ranks), "rank"), wording.Count(len(j.hosts), "host"), j.fabric)
	} else {
		j.verbosely("job %s: %s on %s, %s, fabric %s", j.id, wording.Count(len(j.ranks), "rank"), j.hosts[0].name, wording.Count(j.agent.Cores(), "core"), j.fabric)
	}
	if j.why != "" {
		j.verbosely("%s", j.why)
	}
	if no := j.spec.Ignored; no != nil {
		j.verbosely("without effect: %s", strings.Join(no, ", "))
	}
	for _, h := range j.hosts {
		var in *os.File
		if h == j.ranks[j.spec.Reader].host {
			in = input
		}
		if err := h.node.Start(in); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	if j.ranks[j.spec.Reader].host.remote == nil && input != j.stdin {
		input.Close() // the rank has it
	}
	startInput()
	return nil
}

// appOf is the program of a rank.
func (j *job) appOf(rank int) *plan.App {
	for i := range j.apps {
		if rank < j.apps[i].N {
			return &j.apps[i]
		}
		rank -= j.apps[i].N
	}
	return nil
}
