package dtype

import (
	"math"
	"testing"
)

// FuzzConstructors interprets bytes as constructor calls: each call takes its arguments
// from the bytes and its old types from a stack. No call may panic or loop forever, and
// the runs of each type must lie within its bounds.
func FuzzConstructors(f *testing.F) {
	f.Add([]byte{0, 9, 3, 4, 3, 1, 2})
	f.Add([]byte{0, 20, 10, 2, 8, 16, 1, 1, 0, 3, 12, 1, 2, 2, 1, 0, 0, 2})
	f.Add([]byte{0, 41, 11, 2, 1, 5, 3, 18, 16, 2, 255, 2, 1, 0})
	set := Predefined()
	f.Fuzz(func(t *testing.T, program []byte) {
		p := constructorProgram{bytes: program, set: set}
		for len(p.bytes) > 0 && len(p.stack) < 40 {
			p.step()
		}
		for _, typ := range p.stack {
			inspect(t, typ)
		}
	})
}

type constructorProgram struct {
	bytes []byte
	set   *Set
	stack []*Type
}

func (p *constructorProgram) byte() int64 {
	if len(p.bytes) == 0 {
		return 0
	}
	b := p.bytes[0]
	p.bytes = p.bytes[1:]
	return int64(int8(b))
}

// number returns a number that is usually small and sometimes huge.
func (p *constructorProgram) number() int64 {
	v := p.byte()
	switch v {
	case 100:
		return math.MaxInt64 - p.byte()
	case 101:
		return math.MinInt64 + p.byte()
	case 102:
		return 1 << (p.byte() & 63)
	}
	return v
}

func (p *constructorProgram) numbers(n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = p.number()
	}
	return out
}

func (p *constructorProgram) old() *Type {
	if len(p.stack) == 0 {
		return p.set.Type(Int)
	}
	return p.stack[uint64(p.byte())%uint64(len(p.stack))]
}

func (p *constructorProgram) step() {
	var typ *Type
	var err error
	n := p.byte() & 7
	switch p.byte() & 15 {
	case 0:
		typ = p.set.Type(firstID + ID(uint8(p.byte())))
	case 1:
		typ, err = Dup(p.old())
	case 2:
		typ, err = Contiguous(p.number(), p.old())
	case 3:
		typ, err = Vector(p.number(), p.number(), p.number(), p.old())
	case 4:
		typ, err = Hvector(p.number(), p.number(), p.number(), p.old())
	case 5:
		typ, err = Indexed(p.numbers(n), p.numbers(n), p.old())
	case 6:
		typ, err = Hindexed(p.numbers(n), p.numbers(n), p.old())
	case 7:
		typ, err = IndexedBlock(p.number(), p.numbers(n), p.old())
	case 8:
		typ, err = HindexedBlock(p.number(), p.numbers(n), p.old())
	case 9:
		types := make([]*Type, n)
		for i := range types {
			types[i] = p.old()
		}
		typ, err = Struct(p.numbers(n), p.numbers(n), types)
	case 10:
		typ, err = Subarray(p.numbers(n), p.numbers(n), p.numbers(n), Order(12+3*(p.byte()&1)), p.old())
	case 11:
		dims := make([]Distribute, n)
		for i := range dims {
			dims[i] = Distribute{p.number(), Distribution(16 + p.byte()&3), p.number(), p.number()}
		}
		typ, err = Darray(p.number(), p.number(), dims, Order(12+3*(p.byte()&1)), p.old())
	case 12:
		typ, err = Resized(p.old(), p.number(), p.number())
	case 13:
		typ, err = p.set.F90Real(int(p.number()), int(p.number()))
	case 14:
		typ, err = p.set.ValueIndex(p.old(), p.old())
	case 15:
		typ, err = p.set.F90Integer(int(p.number()))
	}
	if err == nil && typ != nil {
		p.stack = append(p.stack, typ)
	}
}

// inspect compares size and bounds of a type with its program.
func inspect(t *testing.T, typ *Type) {
	if typ.Size() != typ.sig.bytes {
		t.Fatalf("%v: size %d, signature %d bytes", typ, typ.Size(), typ.sig.bytes)
	}
	_ = typ.Describe(3)
	typ.Commit()
	b, err := At(nil, typ, 1)
	if err != nil {
		t.Fatalf("%v: %v", typ, err)
	}
	if b.Size() != typ.Size() || typ.program().size != typ.Size() {
		t.Fatalf("%v: size %d, program %d", typ, typ.Size(), typ.program().size)
	}
	lb, ex := typ.TrueExtent()
	var runs [8]Run
	for _, at := range []int64{0, typ.Size() / 2, typ.Size() - 1} {
		if at < 0 {
			continue
		}
		n, next := b.Runs(runs[:], at, math.MaxInt64)
		sum := int64(0)
		for _, r := range runs[:n] {
			if r.Off < lb || r.Off+r.Len > lb+ex {
				t.Fatalf("%v: run %v outside of %d to %d", typ, r, lb, lb+ex)
			}
			sum += r.Len
		}
		if next-at != sum {
			t.Fatalf("%v: runs of %d bytes from %d to %d", typ, sum, at, next)
		}
	}
	if ex < 0 || typ.Size() < 0 {
		t.Fatalf("%v: size %d, true extent %d", typ, typ.Size(), ex)
	}
	if typ.Size() == 0 || ex > 1<<16 || typ.Size() > 1<<16 {
		return
	}
	mem, wire := make([]byte, ex), make([]byte, typ.Size())
	b, err = Bind(mem, -lb, typ, 1)
	if err != nil {
		t.Fatalf("%v: %v", typ, err)
	}
	for i := range wire {
		wire[i] = byte(i)
	}
	b.Unpack(wire, 0)
	back := make([]byte, len(wire))
	k := len(wire) / 3
	b.Pack(back[k:], int64(k))
	b.Pack(back[:k], 0)
	if string(back) != string(wire) && !b.Overlaps() {
		t.Fatalf("%v: packed % x, unpacked % x", typ, back, wire)
	}
	if size, err := typ.ExternalSize(1); err == nil {
		if _, err := b.PackExternal(make([]byte, size)); err != nil {
			t.Fatalf("%v: %v", typ, err)
		}
	}
}
