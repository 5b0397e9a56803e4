package histories_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// check compares the records of the ranks with the oracle, which goes through the program step
// by step with the memory of all windows in slices. Results that the standard determines must be
// equal. For elements that were accumulated on there must be an order of these operations that
// explains all results and the final value.
func (x *execution) check() error {
	x.over.Wait()
	for i, t := range x.tracks {
		memory := map[*window][][][]byte{}
		for _, w := range t.windows {
			for _, slots := range w.slots {
				var mem [][]byte
				for _, s := range slots {
					mem = append(mem, payload(int(s.size), s.seed))
				}
				memory[w] = append(memory[w], mem)
			}
		}
		for k, ph := range t.phases {
			c := &checker{execution: x, phase: ph, memory: memory[ph.win], elements: map[place]*elementHistory{}, storms: map[place]*stormed{}}
			if err := c.run(); err != nil {
				return fmt.Errorf("track %d, phase %d, by %v on a %v window: %w", i, k, ph.kind, ph.win.flavor, err)
			}
		}
	}
	for _, o := range x.ops {
		if o != nil && !o.untouched() {
			return fmt.Errorf("%v has written to memory of the origin after it was complete", o)
		}
	}
	return nil
}

// checker is the oracle in one phase.
type checker struct {
	*execution
	phase    *phase
	memory   [][][]byte
	elements map[place]*elementHistory
	order    []place
	storms   map[place]*stormed
}

// place is the position of an element.
type place struct {
	member, slot int
	off          int64
}

// elementHistory is the accesses to one element.
type elementHistory struct {
	*element
	all []access
}

func (c *checker) run() error {
	c.store(c.phase.stores)
	for i, r := range c.phase.rounds {
		c.store(r.stores)
		for _, s := range r.steps {
			if s.do == doAwait {
				if err := c.saw(r, s); err != nil {
					return fmt.Errorf("round %d: %w", i, err)
				}
			}
			if s.do != doOp {
				continue
			}
			if err := c.apply(c.ops[s.op.id]); err != nil {
				return fmt.Errorf("round %d: %w", i, err)
			}
		}
	}
	return c.ended()
}

func (c *checker) store(all []*store) {
	for _, s := range all {
		copy(c.memory[s.member][s.slot][s.off:], s.data)
	}
}

// apply does an operation, and checks its result.
func (c *checker) apply(o *issued) error {
	if !o.done {
		return fmt.Errorf("%v was not done", o)
	}
	if o.target == nobody {
		if o.result != nil && !bytes.Equal(o.got, o.before) {
			return fmt.Errorf("%v, to nobody, has brought something", o)
		}
		return nil
	}
	mem := c.memory[o.target][o.slot]
	switch {
	case o.kind == isPut:
		o.there.unpack(mem, o.at, o.sent)
	case o.kind == isGet:
		return o.brought(o.there.packed(mem, o.at))
	case o.kind == isUpdate:
		e := elementOf(o.elem)
		at := mem[o.at:][:int(o.there.count)*e.size]
		for range o.times {
			(*phaseRun)(nil).add(e, at, o.values)
		}
	case o.kind == isStorm:
		c.stormAt(o)
	default:
		return c.access(o)
	}
	return nil
}

// brought checks the memory of a result: data in its places, and no other change.
func (o *issued) brought(data []byte) error {
	want := bytes.Clone(o.before)
	o.rmaOp.result.unpack(want, o.result.origin, data)
	if bytes.Equal(o.got, want) {
		return nil
	}
	wrong, first := 0, -1
	for i := range want {
		if o.got[i] != want[i] {
			wrong++
			if first < 0 {
				first = i
			}
		}
	}
	return fmt.Errorf("%v: %d of %d bytes of its result's memory are wrong; that at displacement %d is %#x, want %#x",
		o, wrong, len(want), int64(first)-o.result.origin, o.got[first], want[first])
}

// access records the access of an operation to each of its elements.
func (c *checker) access(o *issued) error {
	e := elementOf(o.elem)
	var got []byte
	if o.result != nil {
		got = o.rmaOp.result.packed(o.got, o.result.origin)
		if e.size == e.packedSize() { // otherwise its padding may have been written
			if err := o.brought(got); err != nil {
				return err
			}
		}
	}
	n, i := e.packedSize(), 0
	o.each(func(off, _ int64) bool {
		at := place{o.target, o.slot, off}
		h := c.elements[at]
		if h == nil {
			h = &elementHistory{element: e}
			c.elements[at] = h
			c.order = append(c.order, at)
		}
		a := access{op: o.rmaOp, returned: got != nil}
		if len(o.values) > 0 {
			a.operand = e.plain(slices.Clone(o.values[i*n:][:n]))
		}
		if a.returned {
			a.result = e.plain(slices.Clone(got[i*n:][:n]))
		}
		if o.kind == isCompareAndSwap {
			a.compare = e.plain(slices.Clone(o.rmaOp.before))
		}
		h.all = append(h.all, a)
		i++
		return true
	})
	return nil
}

// ended searches for orders of the accumulates, and compares the memory.
func (c *checker) ended() error {
	ends := c.ends[c.phase]
	for _, at := range c.order {
		h := c.elements[at]
		mem := c.memory[at.member][at.slot][at.off:][:h.size]
		end := ends[at.member][at.slot][at.off:][:h.size]
		first, last := h.value(mem), h.value(end)
		if !h.orderable(first, last, h.all, c.phase.win.loose) {
			return fmt.Errorf("no order of these explains what became of the %v at byte %d of slot %d of member %d, which was %x and is %x:%s",
				h.typ, at.off, at.slot, at.member, first, last, describeAccesses(h.all))
		}
		copy(mem, end) // including padding
	}
	for at, h := range c.storms {
		mem := c.memory[at.member][at.slot][at.off:][:h.size]
		end := ends[at.member][at.slot][at.off:][:h.size]
		if err := h.check(string(mem), string(end), c.phase.win.loose); err != nil {
			return fmt.Errorf("the %v at byte %d of slot %d of member %d: %w", h.typ, at.off, at.slot, at.member, err)
		}
		copy(mem, end)
	}
	for m, slots := range c.memory {
		for s, mem := range slots {
			if err := sameMemory(ends[m][s], mem); err != nil {
				return fmt.Errorf("memory of member %d, slot %d: %w", m, s, err)
			}
		}
	}
	return nil
}

func sameMemory(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	if len(got) != len(want) {
		return errors.New("nobody has looked at it")
	}
	wrong, first, last := 0, -1, 0
	for i := range want {
		if got[i] != want[i] {
			wrong++
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return fmt.Errorf("%d of %d bytes are wrong, the first is %d, %#x instead of %#x, the last %d", wrong, len(want), first, got[first], want[first], last)
}
