package tcp

import (
	"fmt"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/wire"
)

// A Remote is how a process of another job is reached, and recognised when it calls. Two processes
// that meet again, by another port, get another Remote: each of them accepts calls by all that it has,
// and calls by each in turn, the latest first. Meetings at the same time may introduce the two in different
// orders, and one process may have forgotten the other in between, so that the latest of one is unknown to the other.
type Remote struct {
	Name   string    // in errors
	Addr   string    // where it listens
	Host   string    // its host, in errors
	Out    wire.Pair // identifies connections that this process opens, from wire.Between
	In     wire.Pair // identifies connections that the other one opens
	Sealed bool      // frames are sealed: both ends have the same
	First  bool      // of two connections that the processes open at the same time, that of this process stays
}

// abroad are the processes of other jobs that this process has met.
type abroad struct {
	mu   sync.Mutex
	all  map[int][]*Remote // by local number; the latest is the last
	eras map[int]uint64    // by local number; another one each time that the number is given to a process
	last uint64            // era
	tags map[int][]guest   // by tag of a caller
}

// A guest is who may call with a tag.
type guest struct {
	pair wire.Pair
	visitor
}

// find returns how a process is reached; it has no address if this process has forgotten it.
func (a *abroad) find(number int) *Remote { return a.turn(number, 0) }

// turn returns how a process is reached in an attempt: find in attempt 0, by an earlier introduction in the next one.
func (a *abroad) turn(number, attempt int) *Remote {
	a.mu.Lock()
	defer a.mu.Unlock()
	if all := a.all[number]; len(all) > 0 {
		return all[len(all)-1-attempt%len(all)]
	}
	return &Remote{Name: fmt.Sprintf("process %d of another job", number)}
}

// has reports whether a process is of another job.
func (a *abroad) has(number int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.all[number]) > 0
}

// invite lets callers with a pair in.
func (a *abroad) invite(p wire.Pair, v visitor) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tags == nil {
		a.tags = map[int][]guest{}
	}
	a.tags[p.From] = append(a.tags[p.From], guest{p, v})
}

// dismiss undoes invite for all guests that gone selects.
func (a *abroad) dismiss(gone func(g guest) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for tag, list := range a.tags {
		list = slices.DeleteFunc(list, gone)
		if len(list) == 0 {
			delete(a.tags, tag)
		} else {
			a.tags[tag] = list
		}
	}
}

// guests returns who may call with a tag.
func (d *connector) guests(tag int) []guest {
	d.abroad.mu.Lock()
	defer d.abroad.mu.Unlock()
	return slices.Clone(d.abroad.tags[tag])
}

// introduce makes a process of another job known by its local number.
func (d *connector) introduce(number int, r Remote) {
	d.abroad.mu.Lock()
	if d.abroad.all == nil {
		d.abroad.all, d.abroad.eras = map[int][]*Remote{}, map[int]uint64{}
	}
	if len(d.abroad.all[number]) == 0 {
		d.abroad.last++
		d.abroad.eras[number] = d.abroad.last
	}
	d.abroad.all[number] = append(d.abroad.all[number], &r)
	era := d.abroad.eras[number]
	d.abroad.mu.Unlock()
	d.abroad.invite(r.In, visitor{peer: number, era: era, sealed: r.Sealed})
}

// forget undoes all introductions of a process, and ends attempts to reach it. Unless the process is lost, it reports
// false, and does nothing, if there may be a connection with it.
func (d *connector) forget(number int, isLost bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.peers.At(number); !isLost && (p.state == connected || p.state == dialling && !p.isFree()) {
		return false
	}
	d.abroad.dismiss(func(g guest) bool { return g.port == nil && g.peer == number })
	d.abroad.mu.Lock()
	delete(d.abroad.all, number)
	delete(d.abroad.eras, number)
	d.abroad.mu.Unlock()
	d.peers.At(number).drop()
	d.peers.Forget(number)
	d.results = slices.DeleteFunc(d.results, func(r result) bool {
		if r.peer == number {
			r.close()
		}
		return r.peer == number
	})
	return true
}

// abandon ends the attempts to reach a process. It reports whether there is no connection with it then, and none that
// the process may have accepted.
func (d *connector) abandon(number int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers.At(number)
	switch {
	case p.state == unconnected:
		return true
	case p.state != dialling || !p.isFree():
		return false
	}
	p.drop()
	p.state = unconnected
	return true
}

// connecting reports whether a connection with a process is about to be handed to the data path, or is
// being opened.
func (d *connector) connecting(number int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.peers.At(number).state
	return s == dialling || s == connected
}

// part lets a process of another job be reached by a new connection. It reports false if the process is lost.
func (d *connector) part(number int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers.At(number)
	if p.state == lost {
		return false
	}
	p.drop()
	*p = peer{}
	return true
}

// visitor describes a peer that this process calls; sealed is not set for one of another job.
func (d *connector) visitor(peer int) visitor {
	if peer < d.job.Size {
		return visitor{peer: peer, sealed: far(d.job, peer)}
	}
	d.abroad.mu.Lock()
	defer d.abroad.mu.Unlock()
	return visitor{peer: peer, era: d.abroad.eras[peer]}
}

// is reports whether the process of a visitor has not been forgotten since: its number may be that of
// another process, or that of the same one after the two have met again.
func (d *connector) is(v visitor) bool {
	if v.peer < d.job.Size {
		return true
	}
	d.abroad.mu.Lock()
	defer d.abroad.mu.Unlock()
	return v.era != 0 && d.abroad.eras[v.peer] == v.era
}

// far reports whether frames to a peer are sealed and its host is watched.
func (d *connector) far(peer int) bool {
	if peer >= d.job.Size {
		return d.abroad.find(peer).Sealed
	}
	return far(d.job, peer)
}

// first reports whether this process comes before a peer in the order by which crossed calls are
// decided.
func (d *connector) first(peer int) bool {
	if peer >= d.job.Size {
		return d.abroad.find(peer).First
	}
	return d.job.Rank < peer
}

// hostOf names the host of a peer in errors.
func (d *connector) hostOf(peer int) string {
	if peer >= d.job.Size {
		return "host " + d.abroad.find(peer).Host
	}
	return hostOf(d.job, peer)
}

// called names a peer in errors.
func (d *connector) called(peer int) string {
	if peer >= d.job.Size {
		return d.abroad.find(peer).Name
	}
	return fmt.Sprintf("process %d", peer)
}
