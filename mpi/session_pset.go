package mpi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
)

// PsetWorld and PsetSelf are the names of the process sets that every session knows: all processes
// of the job, and this one alone.
//
// C: none; section 11.3.2 has the names, and no constants.
const (
	PsetWorld = "mpi://WORLD"
	PsetSelf  = "mpi://SELF"
)

// PsetParent and PsetChildren are the names of process sets of other jobs: the processes that have spawned this one,
// until the communicator with them (Comm.Parent) is freed or disconnected, and those that this process has spawned and
// whose communicators are not freed, in the order of the calls. They exist in a session once Init has returned, or
// Spawn, while they have members. IntercommFromGroups and CommFromGroup take them, at both sides.
//
// C: none; names of process sets are the implementation's, section 11.3.2.
const (
	PsetParent   = "halo://parent"
	PsetChildren = "halo://children"
)

// Prefixes of the names of process sets that follow from how the job was launched.
const (
	psetHost = "halo://host/" // and the name of a host of the job
	psetApp  = "halo://app/"  // and the number of a block of the launcher's command line
)

// psets returns the names of the process sets of a job. They do not change.
func psets(j *boot.Job) []string {
	names := []string{PsetWorld, PsetSelf}
	for _, h := range j.Hosts {
		names = append(names, psetHost+h)
	}
	for i := range max(1, len(j.Blocks)) {
		names = append(names, psetApp+strconv.Itoa(i))
	}
	for _, b := range j.Blocks {
		for _, name := range b.Psets {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, s := range j.Sets {
		if len(s.Name) <= boot.MaxPset && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// pset returns the members of a process set, as indexes in the job in ascending order. It returns
// nil if there is no set with that name. Programs also write mpi://world.
func pset(j *boot.Job, name string) (members []int32) {
	in := func(r int) bool { return true }
	switch host, onHost := strings.CutPrefix(name, psetHost); {
	case strings.EqualFold(name, PsetWorld):
	case strings.EqualFold(name, PsetSelf):
		return []int32{int32(j.Rank)}
	case onHost:
		h := slices.Index(j.Hosts, host)
		in = func(r int) bool { return h >= 0 && int(j.Host[r]) == h }
	default:
		number, isApp := strings.CutPrefix(name, psetApp)
		if isApp && number == "0" && j.Blocks == nil {
			break
		}
		var of []bool // by rank
		for i, b := range j.Blocks {
			is := slices.Contains(b.Psets, name) || isApp && number == strconv.Itoa(i)
			of = append(of, slices.Repeat([]bool{is}, b.Ranks)...)
		}
		set := slices.IndexFunc(j.Sets, func(s boot.Pset) bool { return s.Name == name })
		in = func(r int) bool {
			return r < len(of) && of[r] || set >= 0 && slices.Contains(j.Sets[set].Ranks, r)
		}
	}
	for r := range j.Size {
		if in(r) {
			members = append(members, int32(r))
		}
	}
	return members
}

// spawns are the communicators between a process, its parents, and what it has spawned.
type spawns struct {
	parent atomic.Pointer[Comm] // nil: none have spawned this process
	mu     sync.Mutex
	list   []*Comm // with children
}

// add records a communicator with children.
func (s *spawns) add(c *Comm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(slices.DeleteFunc(s.list, func(c *Comm) bool { return c.freed.Load() }), c)
}

// pset returns the members of a process set of other jobs, nil if there are none.
func (s *spawns) pset(name string) (members []int32) {
	list := []*Comm{s.parent.Load()}
	switch name {
	case PsetParent:
	case PsetChildren:
		s.mu.Lock()
		defer s.mu.Unlock()
		list = s.list
	default:
		return nil
	}
	for _, c := range list {
		if c != nil && !c.freed.Load() {
			members = append(members, c.core.Members...)
		}
	}
	return members
}

// psets returns the names of all process sets.
func (s *Session) psets() []string {
	names := psets(s.self.w.Proc.Job())
	for _, name := range []string{PsetParent, PsetChildren} {
		if s.self.own.spawns.pset(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// pset returns the group of a process set, which is empty if there is none.
func (s *Session) pset(name string) (g Group, found bool) {
	members := pset(s.self.w.Proc.Job(), name)
	if members == nil {
		members = s.self.own.spawns.pset(name)
	}
	if members == nil {
		return Group{}, false
	}
	return s.self.group(members), true
}

// Psets are the names of the process sets that the session knows: PsetWorld, PsetSelf, one for
// each host of the job ("halo://host/NAME"), one for each block of the launcher's command line,
// which colons separate ("halo://app/0", ...), and those that option -pset of halo run, or of mpirun
// of Open MPI from version 5 on, has named.
// They are the same in all sessions and do not change. PsetParent and PsetChildren follow while they have members.
//
// C: MPI_Session_get_num_psets and MPI_Session_get_nth_pset, section 11.3.2.
func (s *Session) Psets() ([]string, error) {
	if err := s.usable(call.SessionGetNumPsets); err != nil {
		return nil, err
	}
	return s.psets(), nil
}

// PsetInfo describes a process set: the key mpi_size has the number of its processes. ErrArg, with
// the names that exist, if there is none with that name.
//
// C: MPI_Session_get_pset_info, section 11.3.2.
func (s *Session) PsetInfo(name string) (*Info, error) {
	if err := s.usable(call.SessionGetPsetInfo); err != nil {
		return nil, err
	}
	g, found := s.pset(name)
	if !found {
		return nil, s.noPset(call.SessionGetPsetInfo, name)
	}
	return infoOf("mpi_size", strconv.Itoa(g.Size())), nil
}

// noPset is the error of a call with a name that no process set has.
func (s *Session) noPset(k call.Number, name string) *Error {
	var known []string
	for _, n := range s.psets() {
		known = append(known, fmt.Sprintf("%q", n))
	}
	if most := 20; len(known) > most {
		known = append(known[:most], fmt.Sprintf("and %d more", len(known)-most))
	}
	return fail(ErrArg, k, s.self, "no process set is called %q; there are %s", name, strings.Join(known, ", "))
}

// PsetGroup is Session.Group without an error for a name that no process set has.
//
// C: MPI_Group_from_session_pset, section 7.3.2.
func (internals) PsetGroup(s *Session, name string) (g Group, found bool, err error) {
	if err := s.usable(call.GroupFromSessionPset); err != nil {
		return Group{}, false, err
	}
	g, found = s.pset(name)
	return g, found, nil
}

// Group is the group of the processes of a process set, in the order of their ranks in the job.
// ErrArg, with the names that exist, if there is none with that name.
//
// C: MPI_Group_from_session_pset, section 7.3.2.
func (s *Session) Group(name string) (Group, error) {
	if err := s.usable(call.GroupFromSessionPset); err != nil {
		return Group{}, err
	}
	g, found := s.pset(name)
	if !found {
		return Group{}, s.noPset(call.GroupFromSessionPset, name)
	}
	return g, nil
}
