package dtype

// Run is a run of bytes in memory, at an offset to displacement 0.
type Run struct{ Off, Len int64 }

// gatherBlock is the shortest run that is worth an entry of an I/O vector, in bytes: a
// page. The kernel takes as long to look at an entry as to copy a page or two, so that
// shorter ones are packed faster: of 256 bytes three times, of 1 KiB a third.
const gatherBlock = 4 << 10

// Gathers reports whether all runs are long enough to be handed out one by one
// instead of being packed.
func (b *Buffer) Gathers() bool { return b.dense || b.size == 0 || b.t.Gathers() }

// Runs writes the runs from byte at of the packed form on to dst, until dst is
// full or limit bytes are covered, and returns how many runs and the position
// behind them. Runs that touch are one. Offsets are relative to what Bind was given
// as mem, and to the address for At.
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

// Slices is Runs with the bytes themselves.
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

// emitter collects runs. Its methods return false when there is no room.
type emitter struct {
	runs []Run
	n    int
	next int64
	left int64 // bytes
}

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

// node adds the runs of n from its byte from on.
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

// repetitions adds the runs of a loop or list.
func (e *emitter) repetitions(sub *node, stride int64, offs []int64, n, off, from int64) bool {
	i := from / sub.size
	from -= i * sub.size
	for ; i < n; i++ {
		if !e.node(sub, off+offset(stride, offs, i), from) {
			return false
		}
		from = 0
	}
	return true
}
