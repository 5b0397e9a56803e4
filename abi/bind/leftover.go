package bind

import (
	"cmp"
	"io"
	"maps"
	"os"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/leftover"
)

// makers records, in checking mode, the call that has made each handle of a table that is not
// freed yet. Package mpi itself lists communicators, windows and requests.
type makers struct {
	kind   string
	only   string // the only call that makes such handles, empty if there are several
	caller func() uintptr
	mu     sync.Mutex
	of     map[handle]creator
}

// creator is a call of the program: its name and its return address.
type creator struct {
	name string
	pc   uintptr
}

func (m *makers) note(h handle) {
	by := creator{cmp.Or(m.only, enteredAt()), m.caller()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of[h] = by
}

func (m *makers) forget(h handle) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, h)
}

// noteMakers begins to record the calls that make handles.
func (l *Lib) noteMakers() {
	note := func(kind string) *makers {
		m := &makers{kind: kind, caller: l.hooks.Caller, of: make(map[handle]creator)}
		l.made = append(l.made, m)
		return m
	}
	l.types.made, l.groups.made, l.ops.made = note("datatype"), note("group"), note("operation")
	l.ops.made.only = call.OpCreate.C()
	l.infos.made, l.errhandlers.made = note("info"), note("error handler")
}

// reportLeftovers lists the handles that were never freed, when MPI is finalised.
func (l *Lib) reportLeftovers(rank int) {
	var list leftover.List
	for _, m := range l.made {
		m.mu.Lock()
		left := maps.Clone(m.of)
		m.mu.Unlock()
		var pcs []uintptr
		for _, by := range left {
			pcs = append(pcs, by.pc)
		}
		l.sources.find(pcs...)
		for h, by := range left {
			if d, ok := l.types.get(h); ok && engine.Permanent(d) {
				continue
			}
			list.Add("freed", m.kind, by.name, l.sources.place(by.pc))
		}
	}
	io.WriteString(os.Stderr, list.Text(rank))
}
