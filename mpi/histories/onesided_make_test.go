package histories_test

import (
	"math/rand/v2"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// maker makes a program from a seed.
type maker struct {
	*rand.Rand
	places   string
	ids      int
	counters int // next counter for bursts
}

// newOneSided makes the program of a seed for ranks on these hosts.
func newOneSided(seed uint64, places string) *oneSided {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(len(places)))), places: places}
	p := &oneSided{seed: seed, places: places}
	for range 1 + m.IntN(2) {
		t := &track{}
		for range 1 + m.IntN(2) {
			t.windows = append(t.windows, m.window())
		}
		for range 1 + m.IntN(4) {
			t.phases = append(t.phases, m.phase(t.windows[m.IntN(len(t.windows))]))
		}
		p.tracks = append(p.tracks, t)
	}
	return p
}

// one returns true once in n times.
func (m *maker) one(n int) bool { return m.IntN(n) == 0 }

func (m *maker) window() *window {
	w := &window{flavor: flavor(min(m.IntN(int(flavors)+2), int(dynamic)))} // more windows that have handles
	w.members = m.Perm(len(m.places))
	switch {
	case m.one(2):
		slices.Sort(w.members)
	case m.one(2):
		w.members = w.members[:1+m.IntN(len(w.members))]
	}
	if w.flavor == shared || w.flavor == scattered {
		host := m.places[w.members[0]]
		w.members = slices.DeleteFunc(w.members, func(r int) bool { return m.places[r] != host })
	}
	units := []int{1, 1, 2, 4, 8, 3, 16, 24}
	unit, uniform := units[m.IntN(len(units))], m.one(2)
	size := m.size()
	for range w.members {
		if !uniform {
			unit, size = units[m.IntN(len(units))], m.size()
		}
		if w.flavor == dynamic {
			unit = 1
		}
		w.unit = append(w.unit, unit)
		slots := []slot{{size: size, seed: m.Uint64()}}
		if w.flavor == dynamic {
			slots[0].direct = m.one(2)
			for range m.IntN(3) {
				slots = append(slots, slot{size: m.size(), direct: m.one(2), seed: m.Uint64()})
			}
		}
		w.slots = append(w.slots, slots)
	}
	set := func(key, value string) { w.info = append(w.info, [2]string{key, value}) }
	if w.flavor == scattered {
		set("alloc_shared_noncontig", "true")
	}
	w.loose = m.one(4)
	if w.loose {
		set("accumulate_ordering", "none")
	}
	if uniform && w.flavor != dynamic && m.one(2) {
		set("same_disp_unit", "true")
		set("same_size", "true")
	}
	if m.one(3) {
		set("mpi_accumulate_granularity", []string{"1", "8", "4096"}[m.IntN(3)])
	}
	if m.one(6) {
		set("no_locks", "true")
	}
	w.signals = make([]int, len(w.members))
	w.views = m.views()
	return w
}

// size is the size of a slot, a multiple of 16.
func (m *maker) size() int64 {
	switch k := m.IntN(24); {
	case k == 0:
		return 0
	case k < 8:
		return int64(16 * (1 + m.IntN(8)))
	case k < 22:
		return int64(16 * (8 + m.IntN(250)))
	}
	return int64(16 * (6000 + m.IntN(12000))) // several frames
}

func (w *window) locks() bool { return !slices.Contains(w.info, [2]string{"no_locks", "true"}) }

func (m *maker) phase(w *window) *phase {
	ph := &phase{win: w, kind: syncKind(m.IntN(int(syncKinds))), assert: m.one(2)}
	if !w.locks() {
		ph.kind = []syncKind{byFence, byPost}[m.IntN(2)]
	}
	attached := make([][]int64, len(w.members))
	for k, slots := range w.slots {
		for s, l := range slots {
			size := l.size
			if w.flavor == dynamic && size > 0 {
				size = int64(16 * m.IntN(int(size/16)+1))
				if m.one(3) {
					size = l.size
				}
				ph.attach = append(ph.attach, attaching{k, s, m.pieces(size)})
			}
			attached[k] = append(attached[k], size)
		}
	}
	rm := &roundMaker{maker: m, phase: ph, claims: newClaims(w), attached: attached, hot: map[claimed][]*rmaOp{}, storms: map[int][]*rmaOp{},
		group: map[[2]int]int{}, open: map[[2]int][]*rmaOp{}, bursts: map[int]*burst{}, streams: map[[3]int]*rmaOp{}, opened: map[[2]int]bool{}}
	for range m.IntN(4) {
		if s := rm.store(); s != nil {
			ph.stores = append(ph.stores, s)
		}
	}
	rounds := 1
	if ph.kind == byFence || ph.kind == byPost {
		rounds += m.IntN(3)
	}
	for rm.number = range rounds {
		rm.claims.nextRound()
		rm.round = &round{}
		clear(rm.bursts)
		if ph.passive() {
			rm.grants()
		}
		switch ph.kind {
		case byFence:
			rm.free(1+m.IntN(12), nil)
		case byPost:
			rm.posts()
		case byLock:
			rm.locks()
		case byLockAll:
			rm.lockAll()
		}
		ph.rounds = append(ph.rounds, rm.round)
	}
	return ph
}

// pieces is the ends of pieces of size bytes: mostly one piece; ends may be anywhere, also
// within elements.
func (m *maker) pieces(size int64) (ends []int64) {
	if size == 0 {
		return nil
	}
	if m.one(2) {
		for range 1 + m.IntN(4) {
			ends = append(ends, 1+m.Int64N(size))
		}
	}
	ends = append(ends, size)
	slices.Sort(ends)
	return slices.Compact(ends)
}

// roundMaker makes the rounds of a phase.
type roundMaker struct {
	*maker
	phase    *phase
	round    *round
	number   int
	claims   *claims
	attached [][]int64
	hot      map[claimed][]*rmaOp // operations that accumulate in this phase
	storms   map[int][]*rmaOp     // by target
	group    map[[2]int]int       // by agent and target: how often the agent has completed operations at the target
	open     map[[2]int][]*rmaOp  // by agent and target: operations that are not complete
	bursts   map[int]*burst       // by target: notifications that the target has not waited for
	streams  map[[3]int]*rmaOp    // by agent, target and ordered view: the last put or get
	opened   map[[2]int]bool      // by origin and view of a memory handle: whether that window exists
}

func (m *roundMaker) members() int { return len(m.phase.win.members) }

func (m *roundMaker) add(s rmaStep) { m.round.steps = append(m.round.steps, &s) }

// store is a store of any member to its own memory.
func (m *roundMaker) store() *store {
	k := m.IntN(m.members())
	s := m.IntN(len(m.phase.win.slots[k]))
	size := m.phase.win.slots[k][s].size
	if size == 0 {
		return nil
	}
	off := m.Int64N(size)
	n := 1 + m.Int64N(min(size-off, 100))
	if m.claims.accumulates(k, s, off, n) {
		return nil
	}
	return &store{member: k, slot: s, off: off, data: payload(int(n), m.Uint64())}
}

// free adds operations between any two members, or from the origins to the members that post to
// them.
func (m *roundMaker) free(n int, origins [][]int) {
	for range n {
		target := m.IntN(m.members())
		origin := m.IntN(m.members())
		if origins != nil {
			if len(origins[target]) == 0 {
				continue
			}
			origin = origins[target][m.IntN(len(origins[target]))]
		}
		m.operate(origin, target)
		if origins == nil && m.one(6) {
			m.await(m.IntN(m.members()))
		}
	}
}

// operate adds an operation, if it finds one that does not conflict with previous ones.
func (m *roundMaker) operate(origin, target int) {
	if m.one(16) {
		m.addStorms(origin, target)
		return
	}
	for range 4 {
		o := m.newOp(origin, target)
		if o == nil || o.target >= 0 && !m.claims.take(o) {
			continue
		}
		if o.accumulates() && o.target >= 0 {
			at := claimed{o.target, o.slot}
			m.hot[at] = append(m.hot[at], o)
		}
		m.notifies(o)
		m.addOp(o)
		return
	}
}

// addOp adds the step of an operation.
func (m *roundMaker) addOp(o *rmaOp) {
	m.ids++
	at := [2]int{int(o.agent), o.target}
	o.id, o.round, o.group = m.ids, m.number, m.group[at]
	m.open[at] = append(m.open[at], o)
	m.claims.issued(o)
	m.streamed(o)
	m.add(rmaStep{do: doOp, member: o.origin, target: o.target, op: o})
}

// posts chooses which member posts to which: any groups, including empty ones and those that
// contain the member itself.
func (m *roundMaker) posts() {
	n := m.members()
	r := m.round
	r.origins, r.late, r.polls = make([][]int, n), make([]bool, n), make([]bool, n)
	for t := range n {
		r.late[t], r.polls[t] = m.one(3), m.one(3)
		if m.one(4) {
			continue
		}
		r.origins[t] = m.Perm(n)[:m.IntN(n+1)]
	}
	for range m.IntN(3) {
		if s := m.store(); s != nil {
			r.stores = append(r.stores, s)
		}
	}
	m.free(1+m.IntN(12), r.origins)
}

// locks makes epochs of single locks. A member that waits for a lock holds no lock of a higher
// member, so that there is no deadlock.
func (m *roundMaker) locks() {
	n := m.members()
	m.round.shared = m.one(3)
	held := make([]map[int]bool, n) // by origin: targets, and whether the lock is exclusive
	for i := range held {
		held[i] = map[int]bool{}
	}
	highest := func(o int) int {
		top := -1
		for t := range held[o] {
			top = max(top, t)
		}
		return top
	}
	some := func(o int) int {
		all := make([]int, 0, n)
		for t := range n {
			if _, ok := held[o][t]; ok {
				all = append(all, t)
			}
		}
		return all[m.IntN(len(all))]
	}
	unlock := func(o, t int) {
		m.add(rmaStep{do: doUnlock, member: o, target: t, arg: m.IntN(2)})
		m.completed(m.agent(o, 0), t, allViews)
		delete(held[o], t)
	}
	for range 4 + m.IntN(30) {
		o := m.IntN(n)
		switch k := m.IntN(8); {
		case len(held[o]) == 0 || k == 0:
			if top := highest(o); top < n-1 {
				t := top + 1 + m.IntN(n-1-top)
				exclusive := !m.round.shared && m.one(2)
				held[o][t] = exclusive
				arg := 0
				if exclusive {
					arg = 1
				}
				m.add(rmaStep{do: doLock, member: o, target: t, arg: arg})
			}
		case k == 1:
			unlock(o, some(o))
		case k == 2:
			t := some(o)
			m.flush(o, m.anyView(o, t), t, m.one(2))
		case k == 3:
			m.add(rmaStep{do: doWait, member: o, arg: m.IntN(3)})
		case k == 4 && held[o][some(o)]:
			if t := some(o); held[o][t] {
				m.update(o, t)
			}
		default:
			m.operate(o, some(o))
		}
	}
	for o := range n {
		for len(held[o]) > 0 {
			unlock(o, some(o))
		}
	}
}

// lockAll makes an epoch of all members with locks on all.
func (m *roundMaker) lockAll() {
	n := m.members()
	m.round.threads = len(m.phase.win.views) > 1 && m.one(3)
	for range 2 + m.IntN(30) {
		o, v := m.IntN(n), m.view()
		switch k := m.IntN(16); {
		case k > 13:
			t := m.IntN(n+1) - 1
			m.flush(o, m.anyView(o, t), t, m.one(2))
		case k == 1:
			m.add(rmaStep{do: doSync, member: o, view: v})
		case k == 2:
			m.add(rmaStep{do: doWait, member: o, arg: m.IntN(3), view: v})
		case k == 3 && n > 1 && !m.round.threads: // another member may use what one has completed
			to := (o + 1 + m.IntN(n-1)) % n
			m.flush(o, 0, -1, false)
			m.add(rmaStep{do: doHand, member: o, target: to})
			m.add(rmaStep{do: doTake, member: to, target: o})
			m.claims.hand(m.agent(o, 0), m.agent(to, 0), -1)
		case k == 4:
			m.await(o)
		case k == 5 && !m.round.threads:
			m.signal(o, m.IntN(n))
		case (k == 6 || k == 7) && m.phase.win.flavor == dynamic:
			m.lend(o)
		default:
			m.operate(o, m.IntN(n))
		}
	}
}

// passive reports whether the phase allows calls that return requests.
func (ph *phase) passive() bool { return ph.kind >= byLock }

// nobody is the target of an operation that does nothing.
const nobody = mpi.ProcNull
