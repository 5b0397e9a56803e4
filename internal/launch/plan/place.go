package plan

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/launch/wording"
)

// Place decides on which host each rank runs. hosts are the hosts that get ranks, in
// the order in which they were named; where[rank] is an index into hosts.
//
// Blocks of the command line that name no hosts continue to fill the hosts of the
// previous block. By slot, the hosts are filled one after the other; by node, each
// gets one rank in turn. If more ranks than slots are allowed, placement begins again
// with the first host.
func Place(s *Spec) (hosts []string, where []int32, err error) {
	index := map[string]int32{}
	var p *Placer
	for i := range s.Blocks {
		b := &s.Blocks[i]
		if b.Hosts != nil || p == nil {
			list := b.Hosts
			if list == nil {
				list = s.Hosts
			}
			n := b.N
			for k := i + 1; k < len(s.Blocks) && s.Blocks[k].Hosts == nil; k++ {
				n += s.Blocks[k].N
			}
			p, err = NewPlacer(list, n, s.MapBy == "node", s.Oversubscribe)
			if err != nil {
				return nil, nil, err
			}
		}
		for range b.N {
			name := p.Next()
			at, known := index[name]
			if !known {
				at = int32(len(hosts))
				index[name] = at
				hosts = append(hosts, name)
			}
			where = append(where, at)
		}
	}
	return hosts, where, nil
}

// A Placer assigns the slots of a list of hosts.
type Placer struct {
	list   []HostSlots // all with a number of slots
	left   []int
	at     int
	byNode bool
}

// NewPlacer makes a Placer for a number of ranks. Hosts without a number of slots share the ranks that the others leave.
func NewPlacer(list []HostSlots, ranks int, byNode, oversubscribe bool) (*Placer, error) {
	p := &Placer{list: append([]HostSlots(nil), list...), byNode: byNode}
	stated, open := 0, 0
	for _, h := range list {
		stated += h.Slots
		if h.Slots == 0 {
			open++
		}
	}
	if open == 0 && ranks > stated && !oversubscribe {
		return nil, fmt.Errorf("%s, but the hosts have %s (%s): name more, or allow it by -oversubscribe",
			wording.Count(ranks, "rank"), wording.Count(stated, "slot"), DescribeHosts(list))
	}
	share := max(0, ranks-stated)
	for i := range p.list {
		if h := &p.list[i]; h.Slots == 0 {
			part := (share + open - 1) / open
			h.Slots = max(1, part)
			share, open = share-part, open-1
		}
	}
	p.refill()
	return p, nil
}

func (p *Placer) refill() {
	p.left, p.at = p.left[:0], 0
	for _, h := range p.list {
		p.left = append(p.left, h.Slots)
	}
}

// Next returns the host of the next rank.
func (p *Placer) Next() string {
	for tried := 0; p.left[p.at] == 0; tried++ {
		if tried == len(p.left) {
			p.refill()
			break
		}
		p.at = (p.at + 1) % len(p.left)
	}
	at := p.at
	p.left[at]--
	if p.byNode {
		p.at = (at + 1) % len(p.left)
	}
	return p.list[at].Host
}

// DescribeHosts lists hosts with their slots for messages; it shortens a long list.
func DescribeHosts(list []HostSlots) string {
	var parts []string
	for i, h := range list {
		if i == 8 {
			parts = append(parts, fmt.Sprintf("and %d more hosts", len(list)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", h.Host, h.Slots))
	}
	return strings.Join(parts, ", ")
}
