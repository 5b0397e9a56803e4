package rma

import (
	"fmt"
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Pending is an operation of this process that the program does not know to be complete
// at the origin.
type Pending struct {
	t     *target
	claim claim
	spans []span // of the target's memory

	from   []mem.Mem // what is sent
	reads  []span    // by address
	writes []span
	sum    uint64  // of what is sent
	result *result // what it fetches, if that is aside

	request *p2p.Request // nil if there is none
	made    uint32       // its generation: it has another one when the program has waited for it
	asked   bool         // there will be one
	kept    bool         // it is in checkOrigin.pending
	watched bool         // its target keeps what it leaves
}

// checkOrigin is what an origin keeps.
type checkOrigin struct {
	seed     maphash.Seed
	pending  map[*Pending]struct{}
	pages    map[uint64]*mates // by pages of memory at the origin
	wide     mates             // those of many pages
	requests map[*p2p.Request]*Pending
	aside    int64              // bytes of results that are aside
	early    []*Pending         // of standsStart, issued before the target's post was here
	hidden   map[*target]bool   // that keep nothing: see hides
	watched  int                // puts of this epoch whose targets keep what they leave
	touched  map[*target]uint64 // where accesses may be in the log, and check.gen of the last
	told     map[tellTo]*spans  // what is in the log: as no two of its accesses conflict, the same need not be asked again
}

// mates are operations in the order in which they came. Those that are over leave when they are
// the most, so that it costs the same to lose one however many there are.
type mates struct {
	list []*Pending
	over int
}

func (m *mates) lose() {
	if m.over++; 2*m.over > len(m.list) {
		m.list, m.over = slices.DeleteFunc(m.list, func(p *Pending) bool { return !p.kept }), 0
	}
}

// tellTo is a claim to the memory of a target.
type tellTo struct {
	t *target
	claim
}

// knows reports whether p is in the log of its target already, like another operation of
// its kind.
func (c *checkOrigin) knows(p *Pending) bool {
	s := c.told[tellTo{p.t, p.claim}]
	if s == nil || p.claim.deed == DeedPut { // a put conflicts with the same put
		return false
	}
	for _, x := range p.spans {
		if common, ok := s.first(x); !ok || common != x {
			return false
		}
	}
	return true
}

// learns notes that p is in the log of its target.
func (c *checkOrigin) learns(p *Pending) {
	if p.claim.request || len(p.spans) > toldMax {
		return // who asks in vain whether it is over takes it out
	}
	k := tellTo{p.t, p.claim}
	s := c.told[k]
	if s == nil {
		s = &spans{}
		c.told[k] = s
	}
	if len(s.list) > toldMax {
		return
	}
	for _, x := range p.spans {
		s.add(x)
	}
}

// toldMax bounds what is noted of a claim.
const toldMax = 1 << 16

// unlearns forgets what is not in the log of t any more: of this generation of operations
// and those before.
func (c *checkOrigin) unlearns(t *target, gen uint64) {
	for k := range c.told {
		if k.t == t && k.gen <= gen {
			delete(c.told, k)
		}
	}
}

func newCheckOrigin() checkOrigin {
	return checkOrigin{
		seed: maphash.MakeSeed(), hidden: make(map[*target]bool), pending: make(map[*Pending]struct{}), pages: make(map[uint64]*mates),
		requests: make(map[*p2p.Request]*Pending), touched: make(map[*target]uint64), told: make(map[tellTo]*spans),
	}
}

const (
	// page is the unit of checkOrigin.pages in bytes, as a shift, and wideMin how many of
	// them an operation is looked for in each of.
	page, wideMin = 12, 64
	// piecesMax is how many pieces of memory of an operation are looked at, and matesMax
	// how many operations in a page.
	piecesMax, matesMax = 4096, 256
	// pendingMax bounds what is kept: what goes beyond until some is complete is compared at
	// its target only. It is 64 MiB.
	pendingMax = 1 << 16
)

// hold fills in the memory of the origin that x uses.
func (p *Pending) hold(x *Op) {
	p.asked = x.Done != None
	if x.sends() {
		p.from = append(p.from, x.Origin)
		if x.Compare != nil {
			p.from = append(p.from, mem.Of(x.Compare))
		}
	}
	for _, m := range p.from {
		p.reads = appendMemory(p.reads, m)
	}
	if x.fetches() {
		p.writes = appendMemory(nil, x.Result)
	}
}

// appendMemory appends where m is in memory.
func appendMemory(list []span, m mem.Mem) []span {
	var some [16][]byte
	for at := 0; at < m.Len() && len(list) < piecesMax; {
		k, next := m.Blocks(some[:], at, m.Len())
		for _, b := range some[:k] {
			lo := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
			list = appendSpan(list, span{lo, lo + uint64(len(b))})
		}
		at = next
	}
	return list
}

// digest is the checksum of what p sends.
func (c *checkOrigin) digest(p *Pending) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	var scratch [accumulatePiece]byte
	for _, m := range p.from {
		if b, ok := m.Bytes(); ok {
			h.Write(b)
			continue
		}
		for at := 0; at < m.Len(); at += accumulatePiece {
			b := scratch[:min(accumulatePiece, m.Len()-at)]
			m.Pack(b, at)
			h.Write(b)
		}
	}
	return h.Sum64()
}

// eachPage calls fn with the pages that p is in, unless these are many.
func (p *Pending) eachPage(fn func(number uint64)) (wide bool) {
	n := uint64(0)
	for _, list := range [...][]span{p.reads, p.writes} {
		for _, x := range list {
			n += (x.hi-1)>>page - x.lo>>page + 1
		}
	}
	if n > wideMin {
		return true
	}
	for _, list := range [...][]span{p.reads, p.writes} {
		for _, x := range list {
			for k := x.lo >> page; k <= (x.hi-1)>>page; k++ {
				fn(k)
			}
		}
	}
	return false
}

// keep notes p, whose memory belongs to it from now on.
func (c *checkOrigin) keep(p *Pending) {
	p.sum = c.digest(p)
	if len(c.pending) >= pendingMax || c.twin(p) {
		return
	}
	p.kept = true
	c.pending[p] = struct{}{}
	if p.eachPage(func(k uint64) {
		if c.pages[k] == nil {
			c.pages[k] = &mates{}
		}
		c.pages[k].list = append(c.pages[k].list, p)
	}) {
		c.wide.list = append(c.wide.list, p)
	}
}

// twin reports whether an operation that is kept stands for p, too: programs send one
// variable again and again.
func (c *checkOrigin) twin(p *Pending) bool {
	if p.asked || len(p.from) != 1 || len(p.writes) > 0 || len(p.reads) != 1 {
		return false
	}
	m := c.pages[p.reads[0].lo>>page]
	if m == nil {
		return false
	}
	o := m.list[len(m.list)-1]
	return o.kept && o.t == p.t && o.claim == p.claim && o.sum == p.sum && !o.asked && len(o.from) == 1 && len(o.writes) == 0 &&
		len(o.reads) == 1 && o.reads[0] == p.reads[0]
}

// lose forgets p, whose result the program has from then on.
func (c *checkOrigin) lose(p *Pending) {
	if !p.kept {
		return
	}
	p.kept = false
	if p.result != nil && p.result.handed { // else issued has it
		c.handOver(p)
	}
	delete(c.pending, p)
	if p.request != nil && c.requests[p.request] == p {
		delete(c.requests, p.request)
	}
	if p.eachPage(func(k uint64) {
		if m := c.pages[k]; m != nil { // twice there, it has left
			if m.lose(); len(m.list) == 0 {
				delete(c.pages, k)
			}
		}
	}) {
		c.wide.lose()
	}
}

// clash returns an error if p uses memory that belongs to another operation, and one of the
// two writes to it.
func (c *checkOrigin) clash(p *Pending) error {
	var err error
	look := func(list []*Pending) {
		for i := len(list) - 1; i >= max(0, len(list)-matesMax) && err == nil; i-- {
			o := list[i]
			if !o.kept {
				continue
			}
			if x, ok := common(p.reads, o.writes); ok {
				err = p.uses(o, x, "sends", "is fetching into")
			} else if x, ok := common(p.writes, o.writes); ok {
				err = p.uses(o, x, "fetches into", "is fetching into")
			} else if x, ok := common(p.writes, o.reads); ok {
				err = p.uses(o, x, "fetches into", "is sending")
			}
		}
	}
	look(c.wide.list)
	if p.eachPage(func(k uint64) {
		if m := c.pages[k]; m != nil {
			look(m.list)
		}
	}) {
		for o := range c.pending {
			look([]*Pending{o})
		}
	}
	return err
}

// common is the first piece that two lists have in common.
func common(a, b []span) (span, bool) {
	for _, x := range a {
		for _, y := range b {
			if z := x.overlap(y); !z.empty() {
				return z, true
			}
		}
	}
	return span{}, false
}

func (p *Pending) uses(o *Pending, x span, does, did string) error {
	e := p.t.w.e
	return fail(class.RMAConflict, "%s %s %d bytes of memory here that %s %s, to rank %d, and is not complete",
		e.called(&p.claim.call, " at "), does, x.hi-x.lo, e.called(&o.claim.call, " at "), did, o.t.rank)
}

// changed returns an error if what p sends is not what it was.
func (c *checkOrigin) changed(p *Pending, end Call) error {
	if len(p.from) == 0 || c.digest(p) == p.sum {
		return nil
	}
	n := 0
	for _, m := range p.from {
		n += m.Len()
	}
	e := p.t.w.e
	return fail(class.RMAConflict, "the %d bytes here that %s sends to %s have changed before %s: until then they belong to the operation",
		n, e.called(&p.claim.call, " at "), p.where(), e.called(&end, " at "))
}

// where is what p accesses, in words.
func (p *Pending) where() string {
	if len(p.spans) == 0 {
		return fmt.Sprintf("rank %d", p.t.rank)
	}
	return p.t.bytes(span{p.spans[0].lo, p.spans[len(p.spans)-1].hi})
}

// awaits returns a piece of a list, of the memory of a rank, that gets with requests access
// which are not over: the program has not waited for them.
func (c *checkOrigin) awaits(rank int, list []span) (span, bool) {
	for p := range c.pending {
		if p.t.rank == rank && p.claim.request && (p.request == nil || p.request.Gen == p.made) {
			if x, ok := common(list, p.spans); ok {
				return x, true
			}
		}
	}
	return span{}, false
}

// Waited says that the program has waited for a request of v, which is about to be freed,
// and returns an error if what it sent, or the memory that it fetched into, has been stored to
// since. The lock is held.
func (v *View) Waited(r *p2p.Request, end Call) error {
	c := v.w.check
	if c == nil {
		return nil
	}
	p := c.requests[r]
	if p == nil || p.made != r.Gen {
		return nil
	}
	err := firstOf(c.changed(p, end), c.take(p, end))
	c.lose(p)
	return err
}

// Looked says that the program knows of a request of v that it is complete. The lock is held.
func (v *View) Looked(r *p2p.Request) {
	c := v.w.check
	if c == nil {
		return
	}
	if p := c.requests[r]; p != nil && p.made == r.Gen && p.result != nil {
		c.handOver(p)
	}
}
