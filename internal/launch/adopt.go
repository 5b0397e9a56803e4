//go:build unix

package launch

import (
	"fmt"
	"os"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/reach"
	"github.com/halo-mpi/halo/internal/sys"
)

// A program that was started without a launcher starts one with its first Spawn: see boot.Single. The first
// job of that launcher is the program itself, a job of one process that the launcher has not started, and to
// which it sends no signals. When the program ends, all that it has spawned ends; when something that it has
// spawned fails, the program ends, too.

// adopt runs the launcher for the process of a program at the other end of boot.AdoptFD. It returns the exit
// status, which nobody reads.
func adopt(program string) int {
	link, err := sys.NewLink(boot.AdoptFD)
	if err != nil {
		fmt.Fprintf(os.Stderr, "halo: %v\n", err)
		return exit.Launcher
	}
	// What the environment says of hosts, such as the allocation of a batch system, holds for what is spawned.
	spec, err := plan.Parse([]string{"-n", "1", "-path", "/", "--", program})
	if err != nil {
		spec = &plan.Spec{Blocks: []plan.Block{{N: 1, Program: program}}}
	}
	hosts := spec.Hosts
	spec.Hosts, spec.Timeout = nil, 0
	j, err := newJob(spec, os.Stdout, os.Stderr)
	if err == nil {
		err = j.agent.Open(j.mark)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "halo: %v\n", err)
		return exit.Launcher
	}
	defer j.agent.Retire()
	if a := spec.Allocation; hosts != nil {
		local := reach.AreLocal(hostNames(hosts))
		if a != nil && a.Self != "" {
			local[a.Self] = true
		}
		j.slots = plan.MergeHosts(renamed(hosts, local))
	}
	j.adopted, j.begun, j.copied, j.running = true, true, true, 1
	j.apps = []plan.App{{N: 1, File: program, Argv: []string{program}, Env: plan.PassedOn(os.Environ())}}
	h := j.hosts[0]
	h.node, h.ready, h.reached = j.agent, true, true
	j.agent.Take(&plan.Share{ID: j.id, Secret: j.secret, Fabric: j.fabric, Where: j.where, Hosts: []string{h.name}, Listen: boot.Loopback,
		Apps: j.apps, Universe: j.universe()})
	signals := notifySignals()
	j.agent.Adopt(os.Getppid(), link, j.orphaned)
	j.loop(signals)
	j.agent.Sweep()
	j.report()
	return j.status
}

// orphaned is called when the program that has started the launcher has ended, or has closed the link. What
// it has spawned gets leftoverTimeout to end by itself, if the program has called Finalize.
func (j *job) orphaned() {
	r := j.ranks[0]
	r.ended, r.linkDone, r.judged = true, true, true
	j.running--
	j.drain()
	if !r.finalized {
		j.end(exit.Launcher, "")
		return
	}
	time.AfterFunc(leftoverTimeout, func() { j.post(func() { j.end(0, "") }) })
}

// hostNames returns the names of hosts.
func hostNames(list []plan.HostSlots) (names []string) {
	for _, h := range list {
		names = append(names, h.Host)
	}
	return names
}
