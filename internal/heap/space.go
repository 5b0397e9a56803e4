package heap

import "github.com/halo-mpi/halo/internal/planted"

// space allocates parts of a range of offsets, 0 to size. It does not access memory.
//
// Extents, live and free, cover the range without gaps; no two free ones are adjacent. Blocks of
// a page and more begin and end at page boundaries, and take the last extent that fits, from the
// end of the range down. Smaller ones take the first. So large blocks fit exactly into each
// other's holes, and the pages that small blocks share are at the start of the range. A process
// that can map only a part of the range maps that start: small blocks are mostly words by which
// processes synchronise.
//
// A page is in use if a live block touches it. alloc and release return the pages whose state
// changes, so the caller needs no record of pages.
//
// Rejected: size classes, each of which would keep pages of its own in every process; boundary
// tags, since peers can overwrite them.
type space struct {
	all  extents
	size int64
	page int64
	base int64 // address of offset 0, to which alignment refers
	left int64 // bytes that are free
	live int   // blocks
}

// A span is a range of offsets, empty if it does not end behind its start.
type span struct{ off, end int64 }

func (s span) size() int64 { return max(0, s.end-s.off) }

// granule is the size of the smallest block in bytes, and the unit of sizes and offsets: a cache line,
// so that no two blocks share one.
const granule = 64

func newSpace(size, page, base int64) *space {
	s := &space{size: size, page: page, base: base, left: size}
	if size > 0 {
		s.all.insert(&extent{size: size, free: true})
	}
	return s
}

func up(n, unit int64) int64   { return (n + unit - 1) / unit * unit }
func down(n, unit int64) int64 { return n / unit * unit }

// extentOf returns how many bytes of the range a block of size bytes takes.
func (s *space) extentOf(size int64) int64 {
	if size >= s.page {
		return up(size, s.page)
	}
	return up(max(size, 1), granule)
}

// alloc makes a live block of size bytes, at least 1 and far from overflow, at an address
// that is a multiple of align, a power of two. It returns the block and those of its pages that
// were not in use. The block is nil if there is no room.
func (s *space) alloc(size, align int64) (*extent, span) {
	size = s.extentOf(size)
	align = max(align, granule)
	if size >= s.page {
		align = max(align, s.page)
	}
	for _, spare := range []int64{0, align - granule} {
		var free *extent
		var off int64
		if size < s.page {
			free = s.all.first(size + spare)
			if free != nil {
				off = up(s.base+free.off, align) - s.base
			}
		} else {
			free = s.all.last(size + spare)
			if free != nil {
				off = down(s.base+free.end()-size, align) - s.base
			}
		}
		if free != nil && off >= free.off && off+size <= free.end() {
			return s.carve(free, off, size)
		}
	}
	return nil, span{}
}

// carve makes a part of a free extent a live block.
func (s *space) carve(free *extent, off, size int64) (*extent, span) {
	fresh := s.pages(span{off, off + size}, span{free.off, free.end()})
	end := free.end()
	b := free
	if off > free.off {
		free.size = off - free.off
		s.all.refresh(free.off)
		b = &extent{off: off}
	}
	b.size, b.free = size, false
	if b == free {
		s.all.refresh(off)
	} else {
		s.all.insert(b)
	}
	if off+size < end {
		s.all.insert(&extent{off: off + size, size: end - off - size, free: true})
	}
	s.left -= size
	s.live++
	return b, fresh
}

// pages returns the pages that part touches and that are entirely in the free range around it.
func (s *space) pages(part, free span) span {
	return span{
		max(down(part.off, s.page), up(free.off, s.page)),
		min(up(part.end, s.page), down(free.end, s.page)),
	}
}

// release makes a live block free, and returns those of its pages that are no longer in use.
func (s *space) release(b *extent) span {
	part := span{b.off, b.end()}
	s.left += b.size
	s.live--
	b.free, b.busy, b.mem, b.mapping, b.recycled = true, false, nil, nil, false
	if next := s.all.at(b.end()); next != nil && next.off == b.end() && next.free {
		s.all.remove(next.off)
		b.size += next.size
	}
	if before := s.all.at(b.off - 1); before != nil && before.free {
		s.all.remove(b.off)
		before.size += b.size
		b = before
	}
	s.all.refresh(b.off)
	return s.pages(part, span{b.off, b.end()})
}

// block returns the live block that contains off, nil if there is none.
func (s *space) block(off int64) *extent {
	if b := s.all.at(off); off >= 0 && b != nil && (!b.free || planted.FreedTwice) && off < b.end() {
		return b
	}
	return nil
}
