package histories_test

import (
	"bytes"
	"fmt"
	"slices"
)

// The oracle is an array of bytes. Accesses of a round that do not overlap are made in any order; those
// at the shared pointer in an order that it searches, since the program leaves it open; and those that
// overlap, in atomic mode, in an order that explains all that was read and written.

// check compares what the ranks have seen, and the file after each round, with the oracle.
func (x *fileExecution) check() error {
	x.over.Wait()
	o := &fileOracle{x: x}
	for i, r := range x.rounds {
		for _, c := range r.changes {
			if c.do == changeSize || c.do == changeAllocate && c.n > int64(len(o.content)) {
				o.resize(c.n)
			}
		}
		o.after = x.after[i]
		if err := o.round(x.plan.rounds[i]); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		if size := x.plan.sizes[i]; int64(len(o.after)) != size {
			return fmt.Errorf("round %d: the file has %d bytes, want %d", i, len(o.after), size)
		}
		for k, b := range o.after {
			if b != o.content[k] {
				return fmt.Errorf("round %d: byte %d of the file is %#x, want %#x%s", i, k, b, o.content[k], o.writers(x.plan.rounds[i], int64(k)))
			}
		}
	}
	return nil
}

type fileOracle struct {
	x       *fileExecution
	content []byte // of the file
	after   []byte // the round
}

// resize cuts or extends the file.
func (o *fileOracle) resize(n int64) {
	if n > int64(len(o.content)) {
		o.content = append(o.content, make([]byte, n-int64(len(o.content)))...)
	}
	o.content = o.content[:n:n]
}

// writers names the accesses of a round that write a byte.
func (o *fileOracle) writers(list []*placement, at int64) string {
	text := ""
	for _, p := range list {
		if p.write && meet(p.runs, []run{{at, 1}}) {
			text += fmt.Sprintf(", which access %d of rank %d may write", p.number, p.rank)
		}
	}
	return text
}

func (o *fileOracle) round(list []*placement) error {
	raced := slices.ContainsFunc(list, func(p *placement) bool { return p.raced })
	var open, tangled []*placement
	for _, p := range list {
		switch {
		case p.at < 0:
			open = append(open, p)
		case raced && p.tangled:
			tangled = append(tangled, p)
		default:
			if err := o.access(p, p.runs); err != nil {
				return err
			}
		}
	}
	for len(open) > 0 {
		first := open[0]
		var same, others []*placement
		for _, p := range open {
			if p.h == first.h && p.handle.group(p.rank) == first.handle.group(first.rank) {
				same = append(same, p)
			} else {
				others = append(others, p)
			}
		}
		if !o.inSomeOrder(same, first.base) {
			return fmt.Errorf("no order of the accesses at the shared pointer of handle %d, from position %d on, explains what they have read and written:%s",
				first.handle.number, first.base, o.describe(same))
		}
		open = others
	}
	if !o.explains(tangled, tangled) {
		return fmt.Errorf("no order explains what accesses in atomic mode have read and written:%s", o.describe(tangled))
	}
	return nil
}

func (o *fileOracle) describe(list []*placement) (text string) {
	for _, p := range list {
		verb := "read"
		if p.write {
			verb = "write"
		}
		data := o.x.got[p.fileAccess].data
		text += fmt.Sprintf("\n  %d: rank %d, %s of %d bytes, steps %d to %d, % x...", p.number, p.rank, verb, p.n, p.from, p.to, data[:min(len(data), 12)])
		if p.at >= 0 { // else the place is not known
			text += fmt.Sprintf(": %s before and %s after the round", o.compare(p.runs, data, o.content), o.compare(p.runs, data, o.after))
		}
	}
	return text
}

// compare says how the data of an access differs from the file.
func (o *fileOracle) compare(runs []run, data, file []byte) string {
	n, first, wrong := 0, -1, 0
	for _, r := range runs {
		for at := r.off; at < r.off+r.n && at < int64(len(file)) && n < len(data); at++ {
			if data[n] != file[at] {
				wrong++
				if first < 0 {
					first = n
				}
			}
			n++
		}
	}
	if wrong == 0 {
		return "as the file"
	}
	return fmt.Sprintf("%d of %d bytes unlike the file, from byte %d on,", wrong, n, first)
}

// access makes an access, and compares what it has seen with what it must see.
func (o *fileOracle) access(p *placement, runs []run) error {
	got := o.x.got[p.fileAccess]
	n := p.n
	if p.write {
		o.write(runs, got.data)
	} else {
		n = within(runs, int64(len(o.content)))
		whole := n / p.view.one * p.view.one
		if want := canonical(p.view, o.read(runs, whole)); !bytes.Equal(got.data[:whole], want) {
			k := 0
			for got.data[k] == want[k] {
				k++
			}
			return fmt.Errorf("access %d of rank %d, %v in %v: byte %d of %d that were read is %#x, want %#x", p.number, p.rank, p.family, p.view, k, n, got.data[k], want[k])
		}
	}
	one := inFile(p.basic, "native")
	low, high := n/p.view.one*one, (n+p.view.one-1)/p.view.one*one
	if !converts(p.view.rep) {
		low, high = n, n
	}
	if got.bytes < low || got.bytes > high {
		return fmt.Errorf("access %d of rank %d, %v in %v: %d bytes, want %d", p.number, p.rank, p.family, p.view, got.bytes, low)
	}
	return nil
}

func (o *fileOracle) write(runs []run, data []byte) {
	if end := endOf(runs); end > int64(len(o.content)) {
		o.resize(end)
	}
	for _, r := range runs {
		data = data[copy(o.content[r.off:r.off+r.n], data):]
	}
}

// read is the first n bytes of runs.
func (o *fileOracle) read(runs []run, n int64) (data []byte) {
	for _, r := range runs {
		if n == 0 {
			break
		}
		k := min(r.n, n)
		data = append(data, o.content[r.off:r.off+k]...)
		n -= k
	}
	return data
}

// wrote reports whether a write has left its data in the file, as it must if nothing else has been written
// to the same place in the round.
func (o *fileOracle) wrote(runs []run, data []byte) bool {
	for _, r := range runs {
		if r.off+r.n > int64(len(o.after)) || !bytes.Equal(o.after[r.off:r.off+r.n], data[:r.n]) {
			return false
		}
		data = data[r.n:]
	}
	return true
}

// inSomeOrder searches for an order of accesses at the shared pointer, from a position on, and makes them.
// Those of a rank have the order in which it has made them.
func (o *fileOracle) inSomeOrder(list []*placement, at int64) bool {
	if len(list) == 0 {
		return true
	}
	for i, p := range list {
		if slices.ContainsFunc(list[:i], func(e *placement) bool { return e.rank == p.rank }) {
			continue
		}
		runs := p.view.runs(at, p.n)
		if p.write && !o.wrote(runs, o.x.got[p.fileAccess].data) || !p.write && o.access(p, runs) != nil {
			continue
		}
		if o.inSomeOrder(slices.Delete(slices.Clone(list), i, i+1), at+p.n) {
			return !p.write || o.access(p, runs) == nil
		}
	}
	return false
}

// explains searches for an order of accesses of which some were made at the same time, and makes them. all
// are these and those that have been made.
func (o *fileOracle) explains(list, all []*placement) bool {
	if len(list) == 0 {
		return o.agrees(all)
	}
	before := bytes.Clone(o.content)
	for i, p := range list {
		if slices.ContainsFunc(list, func(e *placement) bool { return e.rank == p.rank && e.to < p.from }) || o.access(p, p.runs) != nil {
			continue
		}
		if o.explains(slices.Delete(slices.Clone(list), i, i+1), all) {
			return true
		}
		o.content = bytes.Clone(before)
	}
	return false
}

// agrees reports whether the file contains what the oracle does, where these accesses have written.
func (o *fileOracle) agrees(list []*placement) bool {
	for _, p := range list {
		if p.write && !o.wrote(p.runs, o.read(p.runs, p.n)) {
			return false
		}
	}
	return true
}
