package sparse

import (
	"fmt"
	"os"
	"sync"

	"github.com/halo-mpi/halo/internal/sys"
)

// Mapping is a part of a memory file at addresses that are reserved for it. Pages are closed
// unless a user has opened them. Any goroutine may open and close.
//
// Each change of access is a system call, and each border between open and closed pages
// divides an area of the kernel, of which a process can have some 65,000. So the number of
// steps is limited; beyond the limit the whole mapping is opened permanently, as if it were
// not sparse.
type Mapping struct {
	mem  []byte
	page int64
	most int

	mu    sync.Mutex
	users counts
	all   bool
}

// maxAreas is about how many areas all mappings of a process to all peers of its node may have:
// half of the kernel's default limit.
const maxAreas = 32 << 10

// minSteps is how many steps every mapping may have.
const minSteps = 64

// New maps size bytes of f from offset off on, closed; peers is how many such files a
// process maps. Where addresses are short it maps less, in multiples of unit, as sys.Reserve
// does. The file can be closed.
func New(f *os.File, off, size, unit int64, peers int) (*Mapping, error) {
	mem, err := sys.Reserve(f, off, size, unit)
	if err != nil {
		return nil, err
	}
	return &Mapping{mem: mem, users: counts{{}}, page: int64(os.Getpagesize()), most: max(maxAreas/max(peers, 1), minSteps)}, nil
}

// Bytes is all of the mapping, of which only what is open can be accessed.
func (m *Mapping) Bytes() []byte { return m.mem }

// Open opens the pages that size bytes from off on touch, for one more user.
func (m *Mapping) Open(off, size int64) error {
	if size == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open(m.pages(off, size))
}

// Close undoes an Open of the same bytes. Pages are closed when all have closed them who
// have opened them.
func (m *Mapping) Close(off, size int64) {
	if size == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.close(m.pages(off, size))
}

// pages are the borders of the pages that size bytes from off on touch.
func (m *Mapping) pages(off, size int64) (from, to int64) {
	if off < 0 || size < 0 || off > int64(len(m.mem)) || size > int64(len(m.mem))-off {
		panic(fmt.Sprintf("sparse: %d bytes at offset %d of a mapping of %d", size, off, len(m.mem)))
	}
	to = (off + size + m.page - 1) / m.page * m.page
	return off / m.page * m.page, min(to, int64(len(m.mem)))
}

func (m *Mapping) open(from, to int64) error {
	if m.all {
		return nil
	}
	err := m.users.each(from, to, 0, func(from, to int64) error { return sys.Allow(m.mem[from:to]) })
	if err == nil {
		m.users.add(from, to, 1)
	}
	if err != nil || len(m.users) > m.most {
		// One area needs no more of them than there are.
		err = sys.Allow(m.mem)
		if err == nil {
			m.all, m.users = true, nil
		}
	}
	return err
}

func (m *Mapping) close(from, to int64) {
	if m.all {
		return
	}
	// If it fails for want of an area, the pages stay open.
	m.users.each(from, to, 1, func(from, to int64) error { return sys.Deny(m.mem[from:to]) })
	m.users.add(from, to, -1)
}

// Release frees the memory and the addresses.
func (m *Mapping) Release() error { return sys.Unmap(m.mem) }

// Clear frees the memory and keeps the addresses: later reads of open pages find zeros.
func (m *Mapping) Clear() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all {
		return sys.Vacate(m.mem, true)
	}
	for i, s := range m.users {
		to := int64(len(m.mem))
		if i+1 < len(m.users) {
			to = m.users[i+1].off
		}
		if s.off < to {
			if err := sys.Vacate(m.mem[s.off:to], s.n != 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// Use is the part of a mapping that one user has opened. Opening pages again costs no system
// call, and Close closes them once. Any goroutine may call its methods.
type Use struct {
	m      *Mapping
	opened counts // 1 or 0; under the mapping's mutex
}

// Use makes a user, who has opened nothing.
func (m *Mapping) Use() *Use { return &Use{m: m} }

// Memory opens size bytes from off on, and returns them. 0 bytes have their address, and are not accessible.
func (u *Use) Memory(off, size int64) ([]byte, error) {
	m := u.m
	if size > 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		from, to := m.pages(off, size)
		var gaps [][2]int64
		u.opened.each(from, to, 0, func(from, to int64) error {
			gaps = append(gaps, [2]int64{from, to})
			return nil
		})
		for _, g := range gaps {
			if err := m.open(g[0], g[1]); err != nil {
				return nil, err
			}
			u.opened.add(g[0], g[1], 1)
		}
	}
	end := off + size
	if size == 0 { // a slice without capacity would begin where the mapping does
		return m.mem[off:off:min(off+1, int64(len(m.mem)))], nil
	}
	return m.mem[off:end:end], nil
}

// Close closes what the user has opened. Who still accesses it faults, unless others have
// opened it.
func (u *Use) Close() {
	m := u.m
	m.mu.Lock()
	defer m.mu.Unlock()
	u.opened.each(0, int64(len(m.mem)), 1, func(from, to int64) error {
		m.close(from, to)
		return nil
	})
	u.opened = nil
}
