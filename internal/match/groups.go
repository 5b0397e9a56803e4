package match

// groups is one grouping of a queue's entries: a hash table whose buckets contain the
// first entry of each group, chained where buckets collide. It contains slot numbers
// only, so that the garbage collector does not scan it.
type groups struct {
	buckets []uint32 // power of two; all zero while there is no index
	n       int      // groups; at most half the buckets
	links   []link   // by slot; nil for grouping 0, whose links are in the slots
}

// link is an entry's place in one grouping.
type link struct {
	next, prev uint32 // circular list of the group, by age
	chain      uint32 // of a first entry: that of the bucket's next group, or 0; of others notFirst
	hash       uint32
}

const (
	notFirst     = ^uint32(0)
	firstBuckets = 64
)

// extend makes room for the links of n slots.
func (g *groups) extend(n int) {
	if n <= len(g.links) {
		return
	}
	links := make([]link, n)
	copy(links, g.links)
	g.links = links
}

// link returns the link of slot s in grouping c.
func (q *queue[T]) link(c int, s uint32) *link {
	if c == 0 {
		return &q.slots[s].link
	}
	return &q.groups[c].links[s]
}

// find returns the first entry of the group of (ctx, word) in grouping c, or 0. mask is
// the mask of the class.
func (q *queue[T]) find(c int, ctx, word, mask uint64) uint32 {
	return q.findHash(c, q.hash.sum(ctx, word), ctx, word, mask)
}

func (q *queue[T]) findHash(c int, h uint32, ctx, word, mask uint64) uint32 {
	b := q.groups[c].buckets
	s := b[int(h)&(len(b)-1)]
	for s != 0 {
		l := q.link(c, s)
		if l.hash == h {
			if e := &q.slots[s]; e.ctx^ctx|(e.word^word)&mask == 0 {
				break
			}
		}
		s = l.chain
	}
	return s
}

// push appends slot s to its group in grouping c.
func (q *queue[T]) push(c int, s uint32) {
	e := &q.slots[s]
	mask := maskOf(c)
	word := e.word
	if c != 0 {
		word = masked(word, mask)
	}
	h := q.hash.sum(e.ctx, word)
	l := q.link(c, s)
	if f := q.findHash(c, h, e.ctx, word, mask); f != 0 {
		first := q.link(c, f)
		*l = link{next: f, prev: first.prev, chain: notFirst, hash: h}
		q.link(c, first.prev).next = s
		first.prev = s
		return
	}
	g := &q.groups[c]
	b := &g.buckets[int(h)&(len(g.buckets)-1)]
	*l = link{next: s, prev: s, chain: *b, hash: h}
	*b = s
	g.n++
	if 2*g.n > len(g.buckets) {
		q.rehash(c)
	}
}

// unlink removes slot s from grouping c.
func (q *queue[T]) unlink(c int, s uint32) {
	l := q.link(c, s)
	if l.chain != notFirst {
		g := &q.groups[c]
		b := &g.buckets[int(l.hash)&(len(g.buckets)-1)]
		for *b != s {
			b = &q.link(c, *b).chain
		}
		if l.next == s {
			*b = l.chain
			g.n--
			return
		}
		*b = l.next
		q.link(c, l.next).chain = l.chain
	}
	q.link(c, l.prev).next = l.next
	q.link(c, l.next).prev = l.prev
}

// rehash doubles the buckets of grouping c.
func (q *queue[T]) rehash(c int) {
	g := &q.groups[c]
	old := g.buckets
	g.buckets = make([]uint32, 2*len(old))
	for _, s := range old {
		for s != 0 {
			l := q.link(c, s)
			next := l.chain
			b := &g.buckets[int(l.hash)&(len(g.buckets)-1)]
			l.chain, *b = *b, s
			s = next
		}
	}
}

// enter adds an entry to all active groupings.
func (q *queue[T]) enter(s uint32) {
	q.count[classOf(q.slots[s].mask)]++
	q.push(0, s)
	for c := 1; c < classes && q.active>>c != 0; c++ {
		if q.active&(1<<c) != 0 {
			q.push(c, s)
		}
	}
}

// leave undoes enter.
func (q *queue[T]) leave(s uint32) {
	q.count[classOf(q.slots[s].mask)]--
	q.unlink(0, s)
	for c := 1; c < classes && q.active>>c != 0; c++ {
		if q.active&(1<<c) != 0 {
			q.unlink(c, s)
		}
	}
}

// build starts grouping c, of the entries that have entered.
func (q *queue[T]) build(c int) {
	g := &q.groups[c]
	if g.buckets == nil {
		g.buckets = make([]uint32, firstBuckets)
	}
	if c != 0 {
		g.extend(len(q.slots))
	}
	q.active |= 1 << c
	for s := q.slots[0].next; s != 0 && q.slots[s].seq <= q.entered; s = q.slots[s].next {
		q.push(c, s)
	}
}

// index has all entries enter the groupings, and begins grouping 0 if there is no index.
func (q *queue[T]) index() {
	if q.active == 0 {
		q.build(0)
	}
	s := q.slots[0].prev
	for q.slots[s].seq > q.entered { // the sequence number of the anchor is 0
		s = q.slots[s].prev
	}
	for s = q.slots[s].next; s != 0; s = q.slots[s].next {
		q.enter(s)
	}
	q.entered = q.seq
}

// unindex ends the index.
func (q *queue[T]) unindex() {
	for c := range classes {
		if q.active&(1<<c) == 0 {
			continue
		}
		g := &q.groups[c]
		for s := q.slots[0].next; s != 0 && q.slots[s].seq <= q.entered; s = q.slots[s].next {
			g.buckets[int(q.link(c, s).hash)&(len(g.buckets)-1)] = 0
		}
		g.n = 0
	}
	q.active, q.entered = 0, 0
	q.count = [classes]int{}
}
