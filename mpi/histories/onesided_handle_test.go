package histories_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/internal/unexported"
	"github.com/halo-mpi/halo/mpi"
)

// handling is a memory handle of some bytes of a slot, attached or not, and the windows that
// members make from it. Some exist as long as their phase, or longer, others only within a
// round. Windows of handles are views with numbers after those of the window.
type handling struct {
	owner, slot int
	off, named  int64  // the memory of the handle
	size        int64  // of the windows
	unit        int    // of their displacements
	users       []bool // members that have a window for all of the phase
	from        int    // the view of the parent that the windows are made from
	own         bool   // they have separate hints
	viewing
	long bool // the handle is received with extra bytes after it
	late bool // the windows are freed after their parent, and the handle is never released
}

// handlesMax is the maximum number of handles in a phase.
const handlesMax = 12

// handleTag is the first tag of messages about handles.
const handleTag = 100

func (h *handling) String() string {
	return fmt.Sprintf("{%d bytes from %d of slot %d of %d, %d of them in units of %d for %v by view %d %v late %v}",
		h.named, h.off, h.slot, h.owner, h.size, h.unit, h.users, h.from, h.viewing, h.late)
}

// handle is the handle of a view, or nil if the view is one of the window.
func (ph *phase) handle(view int) *handling {
	if i := view - len(ph.win.views); i >= 0 {
		return ph.handles[i]
	}
	return nil
}

// viewing is that of any view.
func (ph *phase) viewing(view int) viewing {
	if h := ph.handle(view); h != nil {
		return h.viewing
	}
	return ph.win.views[view]
}

// unitOf is the unit of displacements of an operation.
func (ph *phase) unitOf(o *rmaOp) int64 {
	if h := ph.handle(o.view); h != nil {
		return int64(h.unit)
	}
	return int64(ph.win.unit[o.target])
}

// flushed is the member that a FlushAll on a view covers, or nobody if it covers all.
func (ph *phase) flushed(view int) int {
	if h := ph.handle(view); h != nil {
		return h.owner
	}
	return nobody
}

// newHandle makes a handle of memory of a member, or returns nil if it has none.
func (m *roundMaker) newHandle(owner int) *handling {
	w := m.phase.win
	h := &handling{owner: owner, slot: m.IntN(len(w.slots[owner])), long: m.one(2), late: m.one(4), users: make([]bool, m.members())}
	size := w.slots[owner][h.slot].size
	if size == 0 || len(m.phase.handles) == handlesMax {
		return nil
	}
	switch {
	case m.one(3):
		h.off = m.Int64N(size)
	case m.one(2):
		h.off = m.Int64N(size) / 16 * 16
	}
	h.named = size - h.off
	if m.one(3) {
		h.named = m.Int64N(h.named + 1)
	}
	h.size = h.named
	if m.one(3) {
		h.size = m.Int64N(h.named + 1)
	}
	h.unit = []int{1, 1, 2, 4, 8, 8, 3, 24}[m.IntN(8)]
	h.from = m.view()
	h.viewing, h.own = w.views[h.from], m.one(2)
	if h.own {
		h.viewing = viewing{m.one(2), m.one(2)}
	}
	m.phase.handles = append(m.phase.handles, h)
	return h
}

// grants makes handles for the whole phase, for dynamic windows.
func (m *roundMaker) grants() {
	if m.phase.win.flavor != dynamic {
		return
	}
	for range 1 + m.IntN(4) {
		view := len(m.phase.win.views) + len(m.phase.handles)
		if h := m.newHandle(m.IntN(m.members())); h != nil {
			for k := range h.users {
				h.users[k] = !m.one(4)
				m.opened[[2]int{k, view}] = h.users[k]
			}
		}
	}
}

// handlesOf lists the views of handles that a member has for memory of another one, or of all if
// target is -1.
func (m *roundMaker) handlesOf(origin, target int) (views []int) {
	for i, h := range m.phase.handles {
		view := len(m.phase.win.views) + i
		if m.opened[[2]int{origin, view}] && (target < 0 || h.owner == target) {
			views = append(views, view)
		}
	}
	return views
}

// anyView is a view of a member on which a flush of target, or of all for -1, is possible.
func (m *roundMaker) anyView(member, target int) int {
	if opened := m.handlesOf(member, target); len(opened) > 0 && m.one(2) {
		return opened[m.IntN(len(opened))]
	}
	return m.view()
}

// lend makes a member release a handle that it has given to another one, or give one. Both need
// a message: one with the handle, and one that says that no member uses it any more.
func (m *roundMaker) lend(owner int) {
	n := m.members()
	for i, h := range m.phase.handles {
		view := len(m.phase.win.views) + i
		for user := range n {
			if h.owner == owner && !h.users[user] && m.opened[[2]int{user, view}] && m.one(2) {
				m.add(rmaStep{do: doClose, member: user, target: owner, arg: i, view: view})
				m.completed(m.agent(user, view), owner, view)
				m.opened[[2]int{user, view}] = false
				m.add(rmaStep{do: doRelease, member: owner, target: user, arg: i})
				return
			}
		}
	}
	if n == 1 {
		return
	}
	i := len(m.phase.handles)
	view, user := len(m.phase.win.views)+i, (owner+1+m.IntN(n-1))%n
	if h := m.newHandle(owner); h != nil {
		m.opened[[2]int{user, view}] = true
		m.add(rmaStep{do: doGrant, member: owner, target: user, arg: i})
		m.add(rmaStep{do: doOpen, member: user, target: owner, arg: i, view: view})
	}
}

// grantAll makes the handles for the whole phase, and the windows of them.
func (r *phaseRun) grantAll() error {
	r.views = append(r.views, make([]*mpi.Window, len(r.phase.handles))...)
	r.handles = make([][]byte, len(r.phase.handles))
	for i, h := range r.phase.handles {
		for user, uses := range h.users {
			switch {
			case !uses:
				continue
			case h.owner == r.me && user == r.me:
				if err := errors.Join(r.create(i), r.use(i, r.handles[i])); err != nil {
					return err
				}
			case h.owner == r.me:
				if err := r.grant(i, user); err != nil {
					return err
				}
			case user == r.me:
				if err := r.receive(i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// create makes a handle of this member's memory, unless it exists.
func (r *phaseRun) create(i int) (err error) {
	if h := r.phase.handles[i]; r.handles[i] == nil {
		r.handles[i], err = mpi.MemhandleCreate(r.views[h.from], r.mine[h.slot][h.off:][:h.named], nil)
	}
	return err
}

// grant sends a handle of this member's memory to another member.
func (r *phaseRun) grant(i, user int) error {
	if err := r.create(i); err != nil {
		return err
	}
	handle := r.handles[i]
	if r.phase.handles[i].long {
		handle = append(handle[:len(handle):len(handle)], payload(mpi.MaxMemoryHandleSize-len(handle), uint64(i))...)
	}
	return mpi.Send(r.comm, handle, user, handleTag+i)
}

// receive receives a handle, and makes a window from it.
func (r *phaseRun) receive(i int) error {
	handle := make([]byte, mpi.MaxMemoryHandleSize)
	if _, err := mpi.Recv(r.comm, handle, r.phase.handles[i].owner, handleTag+i); err != nil {
		return err
	}
	return r.use(i, handle)
}

// use makes a window from a handle.
func (r *phaseRun) use(i int, handle []byte) error {
	h := r.phase.handles[i]
	parent, view := r.views[h.from], len(r.window.views)+i
	var info *mpi.Info
	if h.own {
		info = mpi.NewInfo()
		if err := errors.Join(info.Set("mpi_win_order", fmt.Sprint(h.ordered)),
			info.Set("mpi_win_scope", map[bool]string{false: "process", true: "thread"}[h.thread])); err != nil {
			return err
		}
	}
	var err error
	if h.size == h.named && h.unit == 8 {
		var w mpi.Win[int64]
		w, err = mpi.WinFromMemhandle[int64](parent, handle, h.owner, info)
		r.views[view] = w.Window
	} else {
		type api interface { // the form for C
			WinFromMemhandle(parent *mpi.Window, handle []byte, size int64, unit, target int, info *mpi.Info) (*mpi.Window, error)
		}
		r.views[view], err = unexported.Get[api]().WinFromMemhandle(parent, handle, h.size, h.unit, h.owner, info)
	}
	return err
}

// close frees a window of a handle, which completes the operations on it.
func (r *phaseRun) close(i int) error {
	view := len(r.window.views) + i
	err := errors.Join(r.views[view].Free(), r.completedIf(func(o *issued) bool { return o.view == view }))
	r.views[view] = nil
	return err
}

// release releases a handle of this member's memory.
func (r *phaseRun) release(i int) error {
	handle := r.handles[i]
	r.handles[i] = nil
	return r.win.MemhandleRelease(handle)
}

// closeAll frees the windows of handles at the end of a phase, or defers that.
func (r *phaseRun) closeAll() (err error) {
	for i, h := range r.phase.handles {
		switch view := len(r.window.views) + i; {
		case r.views[view] == nil:
		case h.late:
			r.live.late = append(r.live.late, r.views[view])
		default:
			err = errors.Join(err, r.close(i))
		}
	}
	r.views = r.views[:len(r.window.views)]
	return err
}

// releaseAll releases the handles of which other members had windows.
func (r *phaseRun) releaseAll() (err error) {
	for i, h := range r.phase.handles {
		if r.handles[i] != nil && !h.late {
			err = errors.Join(err, r.release(i))
		}
	}
	return err
}

// wantHandles lists all operations on handles, and all kinds of handles.
func wantHandles(want func(format string, args ...any)) {
	for k := range rmaKinds {
		if k != isUpdate {
			want("%v by a handle", k)
		}
	}
	for _, kind := range []syncKind{byLock, byLockAll} {
		want("handles by %v", kind)
	}
	for _, direct := range []bool{false, true} {
		want("handles of direct memory %v", direct)
	}
	for _, what := range []string{"by a handle to oneself", "by a handle to nobody", "by a handle and a request", "by a handle and notifies",
		"by a handle and a goroutine", "by a handle that stays", "by a handle to what is not attached"} {
		want("%s", what)
	}
}

// countHandles counts an operation if it is on a handle.
func countHandles(seen map[string]int, ph *phase, r *round, o *rmaOp) {
	h := ph.handle(o.view)
	if h == nil {
		return
	}
	seen[fmt.Sprintf("%v by a handle", o.kind)]++
	seen[fmt.Sprintf("handles by %v", ph.kind)]++
	seen[fmt.Sprintf("handles of direct memory %v", ph.win.slots[h.owner][h.slot].direct)]++
	attached := int64(0)
	for _, a := range ph.attach {
		if a.member == h.owner && a.slot == h.slot && len(a.ends) > 0 {
			attached = a.ends[len(a.ends)-1]
		}
	}
	for what, is := range map[string]bool{
		"to oneself": o.target == o.origin, "to nobody": o.target == nobody, "and a request": o.request, "and notifies": o.notify > 0,
		"and a goroutine": r.threads, "that stays": h.late, "to what is not attached": o.target >= 0 && o.at >= attached,
	} {
		if is {
			seen["by a handle "+what]++
		}
	}
}
