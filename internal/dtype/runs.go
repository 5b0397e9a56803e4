package dtype

// Run is a run of bytes in memory; Off is relative to a base that the caller knows.
type Run struct{ Off, Len int64 }

// gatherBlock is the length in bytes of the shortest run for which an entry of an I/O vector
// is faster than packing: a page. The kernel takes as long for an entry as for copying a page
// or two. Packing runs of 256 bytes is three times as fast as entries, packing runs of 1 KiB
// a third faster.
const gatherBlock = 4 << 10

// Gathers reports whether all runs are so long that an I/O vector with an entry for each
// is faster than packing.
func (b *Buffer) Gathers() bool { return b.dense || b.size == 0 || b.t.Gathers() }

// Runs writes to dst the runs of the packed form from byte at on, until dst is full or
// limit bytes are covered. It returns the number of runs and the position after them.
// Adjacent runs are merged. Offsets are relative to the beginning of the mem that Bind
// was given, or to the address that At was given.
func (b *Buffer) Runs(dst []Run, at, limit int64) (n int, next int64) {
	if at < 0 || at >= b.size {
		return 0, at
	}
	e := emitter{runs: dst, next: at, left: limit}
	if b.dense {
		e.add(b.lowest()+at, b.size-at)
	} else {
		sub, stride, n, off := b.repetitions()
		e.repetitions(sub, stride, nil, n, off, at)
	}
	return e.n, e.next
}

// Slices is Runs with slices of the memory in place of offsets.
func (b *Buffer) Slices(dst [][]byte, at, limit int64) (n int, next int64) {
	var runs [16]Run
	next = at
	for n < len(dst) && limit > 0 {
		k, behind := b.Runs(runs[:min(len(runs), len(dst)-n)], next, limit)
		if k == 0 {
			break
		}
		for _, r := range runs[:k] {
			dst[n] = b.bytes(r.Off, r.Len)
			n++
		}
		limit -= behind - next
		next = behind
	}
	return n, next
}

// emitter collects runs. Its methods return false when dst is full or the limit is reached.
type emitter struct {
	runs []Run
	n    int
	next int64
	left int64 // bytes
}

// add adds a run of size bytes at off, and merges it with the run before if the two are adjacent.
func (e *emitter) add(off, size int64) bool {
	take := min(size, e.left)
	if take == 0 {
		return false
	}
	if e.n > 0 && e.runs[e.n-1].Off+e.runs[e.n-1].Len == off {
		e.runs[e.n-1].Len += take
	} else if e.n == len(e.runs) {
		return false
	} else {
		e.runs[e.n] = Run{off, take}
		e.n++
	}
	e.next += take
	e.left -= take
	return take == size
}

// node adds the runs of n, beginning with byte from of its packed form.
func (e *emitter) node(n *node, off, from int64) bool {
	off += n.off
	switch n.kind {
	case run:
		return e.add(off+from, n.size-from)
	case loop, list:
		return e.repetitions(n.sub, n.stride, n.offs, n.n, off, from)
	case pieces:
		for i := n.index(from); i < len(n.offs); i++ {
			skip := max(0, from-n.cum[i])
			if !e.add(off+n.offs[i]+skip, n.cum[i+1]-n.cum[i]-skip) {
				return false
			}
		}
	case seq:
		for i := n.index(from); i < len(n.subs); i++ {
			if !e.node(n.subs[i], off, max(0, from-n.cum[i])) {
				return false
			}
		}
	}
	return true
}

// repetitions adds the runs of a loop or list, beginning with byte from of its packed form.
func (e *emitter) repetitions(sub *node, stride int64, offs []int64, n, off, from int64) bool {
	i := from / sub.size
	from -= i * sub.size
	for ; i < n; i++ {
		if !e.node(sub, off+offset(stride, offs, i), from) {
			return false
		}
		from = 0
		if sub.kind == run && offs == nil && stride != sub.size {
			i += e.evenly(off+sub.off+(i+1)*stride, sub.size, stride, n-i-1)
		}
	}
	return true
}

// evenly adds up to n whole runs of size bytes, stride apart, from off on, and returns how many it has
// added. None of them is merged: the run before does not touch the first one, and they do not touch
// each other.
func (e *emitter) evenly(off, size, stride, n int64) int64 {
	n = min(n, int64(len(e.runs)-e.n), e.left/size)
	for i := range e.runs[e.n : e.n+int(n)] {
		e.runs[e.n+i] = Run{off + int64(i)*stride, size}
	}
	e.n += int(n)
	e.next += n * size
	e.left -= n * size
	return n
}
