package check

import (
	"fmt"
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Pending is an operation of this process that the program does not know to be complete at the
// origin. It is nil for an operation that is not compared.
type Pending struct {
	w      *Window
	target int // rank
	entry  entry
	spans  []span // bytes of the target's memory

	from   []mem.Mem // memory that is sent
	reads  []span    // the same, by address
	writes []span
	sum    uint64  // checksum of the memory that is sent
	result *result // the result, if it is redirected

	request *p2p.Request // nil if there is none
	made    uint32       // its generation, which changes when the program has waited for it
	asked   bool         // the operation will have a request
	kept    bool         // it is in origin.pending
	snapped bool         // its target takes a snapshot of the memory after it
}

// origin is the state of the operations of this process as origin.
type origin struct {
	seed       maphash.Seed
	pending    map[*Pending]struct{}
	pages      map[uint64]*pageList // by pages of memory at the origin
	wide       pageList             // operations on many pages
	requests   map[*p2p.Request]*Pending
	redirected int64                 // bytes of results that are redirected
	early      []*Pending            // in epochs of Start: issued before the target's post was known
	unchecked  map[int]bool          // targets that take no snapshots: see tellUnchecked
	touched    map[int]uint64        // targets whose logs may have accesses, and Window.gen of the last
	logged     map[atTarget]*spanSet // memory of entries in logs of targets: see isLogged
	// snapshotPuts is the number of puts in this epoch whose targets take snapshots.
	snapshotPuts int
}

// atTarget is an entry in the log of a target.
type atTarget struct {
	target int
	entry
}

// pageList has operations in the order in which they came. Complete operations are removed when they
// are the majority, so that the cost of a removal does not depend on the length of the list.
type pageList struct {
	list     []*Pending
	complete int
}

func (m *pageList) remove() {
	m.complete++
	if 2*m.complete > len(m.list) {
		m.list, m.complete = slices.DeleteFunc(m.list, func(p *Pending) bool { return !p.kept }), 0
	}
}

const (
	// page is the unit of origin.pages in bytes, as a shift. An operation of more than wideMin
	// pages is in origin.wide instead.
	page, wideMin = 12, 64
	// piecesMax is the largest number of pieces of an operation's memory that are compared, and
	// pageListMax the largest number of operations of a page.
	piecesMax, pageListMax = 4096, 256
	// pendingMax bounds the number of kept operations, which take 64 MiB: further operations are
	// compared at their targets only.
	pendingMax = 1 << 16
	// loggedSpansMax bounds the number of spans that are noted for an entry in the log of a target.
	loggedSpansMax = 1 << 16
	// packPiece is the number of bytes of a layout that are packed at a time.
	packPiece = 4 << 10
)

func newOrigin() origin {
	return origin{
		seed: maphash.MakeSeed(), unchecked: make(map[int]bool), pending: make(map[*Pending]struct{}), pages: make(map[uint64]*pageList),
		requests: make(map[*p2p.Request]*Pending), touched: make(map[int]uint64), logged: make(map[atTarget]*spanSet),
	}
}

// isLogged reports whether the log of the target already has an equal access that does not conflict
// with p, so that the target need not be asked about p.
func (c *origin) isLogged(p *Pending) bool {
	s := c.logged[atTarget{p.target, p.entry}]
	if s == nil || p.entry.kind == Put { // a put conflicts with the same put
		return false
	}
	for _, x := range p.spans {
		if common, ok := s.first(x); !ok || common != x {
			return false
		}
	}
	return true
}

// noteLogged notes that p is in the log of its target.
func (c *origin) noteLogged(p *Pending) {
	if p.entry.request || len(p.spans) > loggedSpansMax {
		return // a target that learns of its completion removes it
	}
	k := atTarget{p.target, p.entry}
	s := c.logged[k]
	if s == nil {
		s = &spanSet{}
		c.logged[k] = s
	}
	if len(s.list) > loggedSpansMax {
		return
	}
	for _, x := range p.spans {
		s.add(x)
	}
}

// dropLogged drops the notes on operations that are no longer in the log of a target: those of
// generation gen and earlier.
func (c *origin) dropLogged(target int, gen uint64) {
	for k := range c.logged {
		if k.target == target && k.gen <= gen {
			delete(c.logged, k)
		}
	}
}

// hold records the memory of the origin that an operation uses.
func (p *Pending) hold(sent []mem.Mem, fetched mem.Mem) {
	p.from = sent
	for _, m := range p.from {
		p.reads = appendMemory(p.reads, m)
	}
	p.writes = appendMemory(nil, fetched)
}

// appendMemory appends the addresses of m.
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

// digest returns the checksum of the memory that p sends.
func (c *origin) digest(p *Pending) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	var scratch [packPiece]byte
	for _, m := range p.from {
		if b, ok := m.Bytes(); ok {
			h.Write(b)
			continue
		}
		for at := 0; at < m.Len(); at += packPiece {
			b := scratch[:min(packPiece, m.Len()-at)]
			m.Pack(b, at)
			h.Write(b)
		}
	}
	return h.Sum64()
}

// eachPage calls fn with the number of each page of p. If there are too many pages, it reports true.
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

// keep records p, so that overlaps compares its memory with that of later operations.
func (c *origin) keep(p *Pending) {
	p.sum = c.digest(p)
	if len(c.pending) >= pendingMax || c.duplicate(p) {
		return
	}
	p.kept = true
	c.pending[p] = struct{}{}
	if p.eachPage(func(k uint64) {
		if c.pages[k] == nil {
			c.pages[k] = &pageList{}
		}
		c.pages[k].list = append(c.pages[k].list, p)
	}) {
		c.wide.list = append(c.wide.list, p)
	}
}

// duplicate reports whether a kept operation has the same memory as p, so that p need not be kept:
// programs send one variable repeatedly.
func (c *origin) duplicate(p *Pending) bool {
	if p.asked || len(p.from) != 1 || len(p.writes) > 0 || len(p.reads) != 1 {
		return false
	}
	m := c.pages[p.reads[0].lo>>page]
	if m == nil {
		return false
	}
	o := m.list[len(m.list)-1]
	return o.kept && o.target == p.target && o.entry == p.entry && o.sum == p.sum && !o.asked && len(o.from) == 1 && len(o.writes) == 0 &&
		len(o.reads) == 1 && o.reads[0] == p.reads[0]
}

// remove drops p after it has delivered its result to the program.
func (c *origin) remove(p *Pending) {
	if !p.kept {
		return
	}
	p.kept = false
	if p.result != nil && p.result.armed { // else Issued delivers the result
		c.deliver(p)
	}
	delete(c.pending, p)
	if p.request != nil && c.requests[p.request] == p {
		delete(c.requests, p.request)
	}
	if p.eachPage(func(k uint64) {
		if m := c.pages[k]; m != nil { // an operation that is in a page twice may have left it
			m.remove()
			if len(m.list) == 0 {
				delete(c.pages, k)
			}
		}
	}) {
		c.wide.remove()
	}
}

// overlaps returns an error if p uses memory of another operation, and one of the two writes to it.
func (c *origin) overlaps(p *Pending) error {
	var err error
	look := func(list []*Pending) {
		for i := len(list) - 1; i >= max(0, len(list)-pageListMax) && err == nil; i-- {
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

// uses returns the error for operation p, which uses bytes x of the memory of operation o.
func (p *Pending) uses(o *Pending, x span, does, did string) error {
	w := p.w
	return class.Errorf(class.RMAConflict, "%s %s %d bytes of memory here that %s %s, to rank %d, and is not complete",
		w.Called(&p.entry.call, " at "), does, x.hi-x.lo, w.Called(&o.entry.call, " at "), did, o.target)
}

// unchanged returns an error if the memory that p sends has changed.
func (c *origin) unchanged(p *Pending, end Call) error {
	if len(p.from) == 0 || c.digest(p) == p.sum {
		return nil
	}
	n := 0
	for _, m := range p.from {
		n += m.Len()
	}
	w := p.w
	return class.Errorf(class.RMAConflict, "the %d bytes here that %s sends to %s have changed before %s: until then they belong to the operation",
		n, w.Called(&p.entry.call, " at "), p.where(), w.Called(&end, " at "))
}

// where describes the memory that p accesses.
func (p *Pending) where() string {
	if len(p.spans) == 0 {
		return fmt.Sprintf("rank %d", p.target)
	}
	return p.w.bytes(p.target, span{p.spans[0].lo, p.spans[len(p.spans)-1].hi})
}

// incompleteGet returns a piece of a list of spans at a rank that an incomplete get with a request
// accesses: the program has not waited for the request.
func (c *origin) incompleteGet(rank int, list []span) (span, bool) {
	for p := range c.pending {
		if p.target == rank && p.entry.request && (p.request == nil || p.request.Gen.Load() == p.made) {
			if x, ok := common(list, p.spans); ok {
				return x, true
			}
		}
	}
	return span{}, false
}
