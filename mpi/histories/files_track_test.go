package histories_test

import (
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// fileTracker follows a program without running it: where pointers are, how long the file is, and
// which accesses could be under way at the same time. It refuses steps that the standard does not allow,
// or whose results it leaves open.
type fileTracker struct {
	n       int
	handles map[*fileHandle]*handleState
	size    int64 // of the file, after the steps so far
	begin   int64 // at the beginning of the round
	round   []*placement
	step    int  // number of the step in the round
	looked  bool // a step of the round has asked for the end of the file
	made    bool // there is a file
	plan    fileRun
}

// fileRun is what the tracker finds out about a program: for each round, where its accesses are.
type fileRun struct {
	rounds [][]*placement
	tells  map[*fileStep][2]int64 // individual pointer, and size of the file or -1
	seeks  map[*fileStep]int64
	sizes  []int64                   // at the end of each round
	shared []map[*fileHandle][]int64 // shared pointers then, by group, in elementary types
}

// handleState is the state of a handle.
type handleState struct {
	views    []*fileView // by rank
	pointer  []int64     // by rank, in bytes of data
	shared   []int64     // by group
	splits   []*fileStep // by group
	reserved []int64     // by group: how far the shared pointer may move in this round
	pending  int         // accesses that do not block, and split ones
	same     bool        // all ranks have the same view
	atomic   bool
}

// current is the byte of a sequential file at which its shared pointer is.
func (h *handleState) current() int64 { return h.views[0].runs(h.shared[0], 1)[0].off }

// placement is where an access is, and when.
type placement struct {
	*fileAccess
	h        *handleState
	handle   *fileHandle
	family   family
	write    bool
	view     *fileView
	at, n    int64 // position and bytes of data; at is -1 if the order of accesses at the shared pointer is open
	base     int64 // of the first of them
	runs     []run // at the shared pointer: of all such accesses of the round
	from, to int   // numbers of steps
	atomic   bool
	tangled  bool // the result depends on the order of it and another access of the round
	raced    bool // with one that may be made at the same time
}

// never is the number of a step that has not come.
const never = 1 << 30

// Limits of what the oracle takes on.
const (
	fileMax    = 1 << 20 // bytes of the file
	tangledMax = 7       // accesses whose order it searches
	sharedRoom = 3000    // bytes of data by which a shared pointer moves in a round
)

func newFileTracker(n int) *fileTracker {
	return &fileTracker{n: n, handles: map[*fileHandle]*handleState{}, plan: fileRun{tells: map[*fileStep][2]int64{}, seeks: map[*fileStep]int64{}}}
}

// change makes a change. It returns false if it is not allowed.
func (t *fileTracker) change(c *fileChange) bool {
	h := t.handles[c.h]
	if (h == nil) != (c.do == changeOpen) {
		return false
	}
	groups := c.h.groups(t.n)
	switch c.do {
	case changeOpen:
		t.made = t.made || c.h.mode&mpi.ModeCreate != 0
		if !t.made {
			return false
		}
		bytes := bytesView()
		h = &handleState{pointer: make([]int64, t.n), shared: make([]int64, groups), splits: make([]*fileStep, groups), reserved: make([]int64, groups), same: true}
		for rank := range t.n {
			h.views = append(h.views, bytes)
			if c.h.mode&mpi.ModeAppend != 0 {
				h.pointer[rank] = t.size
				h.shared[c.h.group(rank)] = t.size
			}
		}
		t.handles[c.h] = h
	case changeClose:
		delete(t.handles, c.h)
	case changeView:
		if c.h.mode&mpi.ModeReadOnly == 0 && slices.ContainsFunc(c.views, func(v *fileView) bool { return !v.apart }) {
			return false
		}
		if c.h.sequential() && c.views[0].disp != h.current() { // after a step has been left out
			return false
		}
		h.views, h.same = c.views, !slices.ContainsFunc(c.views, func(v *fileView) bool { return v != c.views[0] })
		clear(h.pointer)
		clear(h.shared)
	case changeSize, changeAllocate:
		if c.h.mode&mpi.ModeReadOnly != 0 || c.h.sequential() || c.n > fileMax {
			return false
		}
		if c.do == changeSize || c.n > t.size {
			t.size = c.n
		}
	case changeAtomic:
		h.atomic = c.on
	case changeSeekShared:
		if !h.same || c.h.sequential() {
			return false
		}
		for g := range h.shared {
			h.shared[g] = c.n * h.views[0].unit
		}
	}
	return true
}

// steps begins the steps of a round.
func (t *fileTracker) steps() {
	t.begin, t.round, t.step, t.looked = t.size, nil, 0, false
	for _, h := range t.handles {
		for g := range h.shared {
			h.reserved[g] = h.shared[g] + sharedRoom
		}
	}
}

// close ends a round: nothing may be under way.
func (t *fileTracker) close() bool {
	for _, h := range t.handles {
		if h.pending > 0 {
			return false
		}
	}
	t.plan.rounds = append(t.plan.rounds, t.round)
	t.plan.sizes = append(t.plan.sizes, t.size)
	pointers := map[*fileHandle][]int64{}
	for handle, h := range t.handles {
		if h.same && !handle.sequential() { // of a sequential file the pointer cannot be asked for
			for _, at := range h.shared {
				pointers[handle] = append(pointers[handle], at/h.views[0].unit)
			}
		}
	}
	t.plan.shared = append(t.plan.shared, pointers)
	return true
}

// add makes a step. It returns false, and changes nothing, if it is not allowed.
func (t *fileTracker) add(s *fileStep) bool {
	h := t.handles[s.h]
	if h == nil || s.h.sequential() && (s.do == stepSeek || s.do == stepTell) {
		return false
	}
	ok := false
	switch s.do {
	case stepAccess:
		ok = t.access(s, h)
	case stepWait, stepEnd:
		ok = t.complete(s, h)
	case stepSeek:
		ok = t.seek(s, h)
	case stepTell:
		size := t.size
		if t.grows() {
			size = -1
		}
		t.looked = t.looked || size >= 0
		t.plan.tells[s] = [2]int64{h.pointer[s.rank] / h.views[s.rank].unit, size}
		ok = true
	}
	if ok {
		t.step++
	}
	return ok
}

func (t *fileTracker) seek(s *fileStep, h *handleState) bool {
	v := h.views[s.rank]
	from := int64(0)
	switch s.whence {
	case mpi.SeekCur:
		from = h.pointer[s.rank]
	case mpi.SeekEnd:
		if t.grows() {
			return false
		}
		from = v.end(t.size)
		t.looked = true
	}
	to := from + s.n*v.unit
	if to < 0 {
		return false
	}
	h.pointer[s.rank] = to
	t.plan.seeks[s] = to / v.unit
	return true
}

// grows reports whether the end of the file moves in this round.
func (t *fileTracker) grows() bool {
	return slices.ContainsFunc(t.round, func(p *placement) bool { return p.write && endOf(p.runs) > t.begin })
}

// complete ends an access that has begun in this round.
func (t *fileTracker) complete(s *fileStep, h *handleState) bool {
	found := false
	for _, p := range t.round {
		if p.to == never && slices.Contains(s.begun.parts, p.fileAccess) && (s.do == stepEnd || p.rank == s.rank) {
			p.to = t.step
			found = true
			h.pending--
		}
	}
	if s.do == stepEnd {
		h.splits[s.h.group(s.begun.parts[0].rank)] = nil
	}
	return found
}

// access places the parts of an access.
func (t *fileTracker) access(s *fileStep, h *handleState) bool {
	group := s.h.group(s.parts[0].rank)
	if s.h.mode&mpi.ModeReadOnly != 0 && s.write || s.h.mode&mpi.ModeWriteOnly != 0 && !s.write {
		return false
	}
	if s.h.sequential() && !s.family.shared() || s.family.collective() && h.splits[group] != nil || s.family.shared() && !h.same {
		return false
	}
	shared := h.shared[group]
	pointer := slices.Clone(h.pointer)
	size := t.size
	var list []*placement
	for _, a := range s.parts {
		v := h.views[a.rank]
		p := &placement{fileAccess: a, h: h, handle: s.h, family: s.family, write: s.write, view: v, n: a.elements() * v.one,
			from: t.step, to: t.step, atomic: h.atomic}
		if p.n%v.unit != 0 || a.basic != v.basic {
			return false
		}
		switch {
		case s.family.ordered():
			p.at = shared
			shared += p.n
		case s.family.shared():
			p.at, p.base = -1, shared
			p.runs = v.runs(shared, h.reserved[group]-shared)
			shared += p.n
		case s.family.explicit():
			p.at = a.offset * v.unit
		default:
			p.at = h.pointer[a.rank]
		}
		if p.at >= 0 {
			p.runs = v.runs(p.at, p.n)
		}
		if end := endOf(p.runs); end > fileMax || s.write && t.looked && end > t.begin {
			return false
		}
		if s.family.later() || s.family.split() {
			p.to = never
		}
		list = append(list, p)
	}
	if shared > h.reserved[group] {
		return false
	}
	if !t.alone(s, h, list) || !t.together(list) {
		return false
	}
	for _, p := range list {
		if p.at >= 0 && !s.family.shared() && !s.family.explicit() {
			n := p.n
			if !p.write && !s.family.later() && !s.family.split() {
				n = within(p.runs, size) / p.view.unit * p.view.unit
			}
			pointer[p.rank] = p.at + n
		}
		if p.to == never {
			h.pending++
		}
	}
	for _, p := range list {
		if !p.write || p.n == 0 {
			continue
		}
		end := endOf(p.runs)
		if p.at < 0 {
			end = endOf(p.view.runs(h.shared[group], p.n))
		}
		t.size = max(t.size, end)
	}
	if s.family.split() {
		h.splits[group] = s
	}
	h.pointer = pointer
	h.shared[group] = shared
	t.round = append(t.round, list...)
	return true
}

// alone has accesses at the shared pointer whose order is open keep to themselves what it may pass in this
// round. It returns false if they cannot.
func (t *fileTracker) alone(s *fileStep, h *handleState, list []*placement) bool {
	for _, e := range t.round {
		if e.h != h || !e.family.shared() || !s.family.shared() || s.h.group(e.rank) != s.h.group(list[0].rank) {
			continue
		}
		switch {
		case s.family.ordered() != e.family.ordered() || !s.family.ordered() && e.write != s.write:
			return false
		case !s.family.ordered():
			list[0].runs, list[0].base = e.runs, e.base
		}
	}
	return true
}

// together reports whether accesses, of which no two are one after the other, may be made in this round.
func (t *fileTracker) together(list []*placement) bool {
	var tangled, raced []*placement
	for i, p := range list {
		for _, e := range slices.Concat(t.round, list[:i]) {
			if p.n == 0 || e.n == 0 {
				continue
			}
			group := p.h == e.h && p.handle.group(p.rank) == e.handle.group(e.rank)
			bytes := (p.write || e.write) && !(group && p.family.shared() && e.family.shared()) && meet(p.runs, e.runs)
			grows := p.write != e.write && endOf(p.runs) > t.begin && endOf(e.runs) > t.begin
			if p.at < 0 && e.at < 0 && group {
				grows = false
			}
			switch {
			case !bytes && !grows:
				continue
			case p.at < 0 || e.at < 0:
				return false
			case e.rank == p.rank && e.to < p.from && group:
			case grows || !group || !p.atomic || !e.atomic:
				return false
			default:
				raced = append(raced, p, e)
			}
			tangled = append(tangled, p, e)
		}
	}
	count, races := 0, len(raced) > 0
	for _, p := range slices.Concat(t.round, list) {
		if p.tangled || slices.Contains(tangled, p) {
			count++
		}
		races = races || p.raced
	}
	if races && count > tangledMax {
		return false
	}
	for _, p := range tangled {
		p.tangled = true
	}
	for _, p := range raced {
		p.raced = true
	}
	return true
}
