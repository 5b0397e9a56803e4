package attach

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
)

// Region is memory that was attached as one piece, or several adjacent pieces.
type Region struct {
	Addr   uint64
	Memory apply.Region
	Keep   any // a reference that keeps the memory alive
}

// End is the address after the last byte of a region.
func (r *Region) End() uint64 { return r.Addr + uint64(len(r.Memory.Mem)) }

// List is the attached regions. The zero List is empty.
type List struct {
	regions []*Region // by address, not overlapping
	joined  *Region   // the last Region that join has made of several; nil after changes
}

// Regions returns all regions by address. The caller must not change the slice.
func (l *List) Regions() []*Region { return l.regions }

// Overlap returns a region that overlaps n bytes at an address, nil if there is none. Regions of 0
// bytes overlap if they begin at the same address.
func (l *List) Overlap(addr uint64, n int) *Region {
	i := l.index(addr)
	if i < len(l.regions) && l.regions[i].Addr-addr < max(uint64(n), 1) {
		return l.regions[i]
	}
	if i > 0 {
		if r := l.regions[i-1]; addr-r.Addr < uint64(len(r.Memory.Mem)) {
			return r
		}
	}
	return nil
}

// Insert inserts r, which must not overlap any region, and returns its index.
func (l *List) Insert(r *Region) int {
	i := l.index(r.Addr)
	l.regions, l.joined = slices.Insert(l.regions, i, r), nil
	return i
}

// Begins reports whether a region begins at an address.
func (l *List) Begins(addr uint64) bool {
	i := l.index(addr)
	return i < len(l.regions) && l.regions[i].Addr == addr
}

// Delete deletes the region that begins at an address, and returns its former index.
func (l *List) Delete(addr uint64) int {
	i := l.index(addr)
	l.regions, l.joined = slices.Delete(l.regions, i, i+1), nil
	return i
}

// index returns the index of the first region that begins at addr or after it.
func (l *List) index(addr uint64) int {
	i, _ := slices.BinarySearchFunc(l.regions, addr, func(r *Region, addr uint64) int { return cmp.Compare(r.Addr, addr) })
	return i
}

// Find returns the region that holds n bytes from an address on, or several adjacent regions that
// hold them as one Region; nil if some bytes are not attached.
func (l *List) Find(addr, n uint64) *Region {
	i := l.index(addr)
	if i == len(l.regions) || l.regions[i].Addr != addr {
		i--
		if i < 0 {
			return nil
		}
	}
	r := l.regions[i]
	size, at := uint64(len(r.Memory.Mem)), addr-r.Addr
	switch {
	case at > size:
		return nil
	case n > size-at:
		return l.join(i, addr, n)
	}
	return r
}

// Gap returns the first address from addr on that is not attached.
func (l *List) Gap(addr uint64) uint64 {
	for r := l.Find(addr, 1); r != nil; r = l.Find(addr, 1) {
		addr = r.End()
	}
	return addr
}

// Holds reports whether all accessed bytes among n bytes from lo on are attached; accessed reports
// whether a range contains such bytes. Holds iterates over the gaps between regions, and not over the
// accessed pieces, because a peer may name any number of pieces.
func (l *List) Holds(lo, n uint64, accessed func(lo, hi uint64) bool) bool {
	i := l.index(lo)
	if i > 0 && l.regions[i-1].End() > lo {
		i--
	}
	for at, end := lo, lo+n; at < end; {
		gap := end
		if i < len(l.regions) {
			x := l.regions[i]
			if x.Addr <= at {
				at = max(at, x.End())
				i++
				continue
			}
			gap = min(gap, x.Addr)
		}
		if accessed(at, gap) {
			return false
		}
		at = gap
	}
	return true
}

// join makes one Region of the regions from index i on that together hold n bytes from an address on;
// nil if there is a gap. MPI-5, 12.2.4, permits memory to be attached in pieces.
func (l *List) join(i int, addr, n uint64) *Region {
	if j := l.joined; j != nil && addr >= j.Addr && addr-j.Addr <= uint64(len(j.Memory.Mem)) && n <= uint64(len(j.Memory.Mem))-(addr-j.Addr) {
		return j
	}
	first := l.regions[i]
	keep := []any{first.Keep}
	have := uint64(len(first.Memory.Mem)) - (addr - first.Addr)
	for last := first; have < n; {
		i++
		if i == len(l.regions) || l.regions[i].Addr != last.End() {
			return nil
		}
		last = l.regions[i]
		keep = append(keep, last.Memory.Mem, last.Keep)
		have += uint64(len(last.Memory.Mem))
	}
	j := &Region{Addr: first.Addr, Memory: first.Memory, Keep: keep}
	j.Memory.Mem = adjoining(first.Memory.Mem, int(addr-first.Addr+have))
	l.joined = j
	return j
}

// adjoining returns n bytes from the beginning of mem on: mem and the memory after it, all of
// which is attached and kept alive by the caller. The bytes may belong to several objects,
// which checkptr would report as an error.
//
//go:nocheckptr
func adjoining(mem []byte, n int) []byte { return unsafe.Slice(unsafe.SliceData(mem), n) }
