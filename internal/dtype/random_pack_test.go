package dtype_test

import (
	"bytes"
	"fmt"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/internal/mem"
)

// packed returns the packed form by the oracle.
func (x *checker) packed() []byte { return x.all.Packed(x.mem, x.origin) }

// everySplit is the largest size in bytes for which the tests split a transfer at every byte;
// larger types are split at some 40 random bytes.
const everySplit = 400

func (x *checker) splits() (at []int) {
	size := len(x.offs)
	for k := 0; k <= size; k++ {
		if size <= everySplit || x.r.IntN(size) < 40 {
			at = append(at, k)
		}
	}
	return at
}

// ranges returns some random, non-empty ranges of the packed form.
func (x *checker) ranges() (all [][2]int) {
	size := len(x.offs)
	for range min(20, size) {
		from := x.r.IntN(size)
		all = append(all, [2]int{from, from + 1 + x.r.IntN(min(size-from, 1+x.r.IntN(size)))})
	}
	return all
}

// pack packs all bytes with PackAll, in two pieces at every split point, and in ranges.
func (x *checker) pack() error {
	want := x.packed()
	size := len(want)
	if int64(size) != x.b.Size() {
		return fmt.Errorf("%d bytes, want %d", x.b.Size(), size)
	}
	got := make([]byte, size+8)
	if n := x.b.PackAll(got); n != size || !bytes.Equal(got[:size], want) || !bytes.Equal(got[size:], make([]byte, 8)) {
		return fmt.Errorf("all: %d bytes of %d\n% x, want\n% x", n, size, got, want)
	}
	for _, k := range x.splits() {
		clear(got)
		n := x.b.Pack(got[:k], 0)
		n += x.b.Pack(got[k:], int64(k))
		if n != size || !bytes.Equal(got[:size], want) || !bytes.Equal(got[size:], make([]byte, 8)) {
			return fmt.Errorf("split at %d of %d: %d bytes\n% x, want\n% x", k, size, n, got, want)
		}
	}
	for _, k := range x.ranges() {
		clear(got)
		part := got[4 : 4+k[1]-k[0]]
		n := x.b.Pack(part, int64(k[0]))
		if n != len(part) || !bytes.Equal(part, want[k[0]:k[1]]) ||
			!bytes.Equal(got[:4], make([]byte, 4)) || !bytes.Equal(got[4+n:], make([]byte, size+4-n)) {
			return fmt.Errorf("bytes %v of %d: %d bytes\n% x, want\n% x", k, size, n, got, want[k[0]:k[1]])
		}
	}
	return nil
}

// unpack does the same with Unpack, which must change the bytes of the typemap and no others.
func (x *checker) unpack() error {
	if x.overlaps {
		return nil
	}
	size := len(x.offs)
	before := bytes.Clone(x.mem)
	fresh := x.random(size)
	after := bytes.Clone(before)
	x.all.Unpack(after, x.origin, fresh)
	if n := x.b.UnpackAll(append(fresh[:size:size], 1, 2, 3)); n != size || !bytes.Equal(x.mem, after) {
		return fmt.Errorf("all: %d bytes of %d\n% x, want\n% x", n, size, x.mem, after)
	}
	for _, k := range x.splits() {
		copy(x.mem, before)
		n := x.b.Unpack(fresh[k:], int64(k)) + x.b.Unpack(fresh[:k], 0)
		if n != size || !bytes.Equal(x.mem, after) {
			return fmt.Errorf("split at %d of %d: %d bytes\n% x, want\n% x", k, size, n, x.mem, after)
		}
	}
	for _, k := range x.ranges() {
		copy(x.mem, before)
		copy(after, before)
		for i, o := range x.offs[k[0]:k[1]] {
			after[x.origin+o] = fresh[k[0]+i]
		}
		if n := x.b.Unpack(fresh[k[0]:k[1]], int64(k[0])); n != k[1]-k[0] || !bytes.Equal(x.mem, after) {
			return fmt.Errorf("bytes %v of %d: %d bytes\n% x, want\n% x", k, size, n, x.mem, after)
		}
	}
	return nil
}

func (x *checker) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(x.r.Uint32())
	}
	return b
}

// runs requests the runs in portions and compares them byte by byte.
func (x *checker) runs() error {
	at, steps := int64(0), 0
	if len(x.offs) > 0 && x.r.IntN(2) == 0 {
		at = int64(x.r.IntN(len(x.offs)))
	}
	for at < int64(len(x.offs)) {
		limit := int64(1 + x.r.IntN(40))
		if x.r.IntN(3) > 0 {
			limit = 1 << 40
		}
		runs := make([]dtype.Run, 1+x.r.IntN(5))
		n, next := x.b.Runs(runs, at, limit)
		if n == 0 || next-at > limit {
			return fmt.Errorf("%d runs from %d to %d, limit %d", n, at, next, limit)
		}
		slices := make([][]byte, len(runs))
		if k, same := x.b.Slices(slices, at, limit); k != n || same != next {
			return fmt.Errorf("%d slices to %d, %d runs to %d", k, same, n, next)
		}
		for i, r := range runs[:n] {
			if i > 0 && runs[i-1].Off+runs[i-1].Len == r.Off {
				return fmt.Errorf("runs %v touch", runs[:n])
			}
			if &slices[i][0] != &x.mem[r.Off] || int64(len(slices[i])) != r.Len {
				return fmt.Errorf("slice %d is not run %v", i, r)
			}
			for b := range r.Len {
				if r.Off+b != x.offs[at]+x.origin {
					return fmt.Errorf("byte %d is at %d, want %d", at, r.Off+b, x.offs[at]+x.origin)
				}
				at++
			}
		}
		if at != next {
			return fmt.Errorf("runs end at %d, told %d", at, next)
		}
		steps++
	}
	if p, ok := x.b.Contiguous(); ok && !bytes.Equal(p, x.packed()) {
		return fmt.Errorf("contiguous bytes % x", p)
	}
	return nil
}

// part packs, unpacks and lists parts of a range, which must not reach beyond the range.
func (x *checker) part() error {
	want := x.packed()
	for _, k := range x.ranges() {
		p := mem.In(&x.b).Cut(k[0], k[1])
		at := x.r.IntN(k[1] - k[0] + 1)
		rest := want[k[0]+at : k[1]]
		got := make([]byte, len(rest)+3)
		p.Pack(got, at)
		if !bytes.Equal(got[:len(rest)], rest) || !bytes.Equal(got[len(rest):], make([]byte, 3)) {
			return fmt.Errorf("%v from byte %d: packed\n% x, want\n% x", k, at, got, rest)
		}
		listed := got[:0]
		for next := at; next < p.Len(); {
			slices := make([][]byte, 1+x.r.IntN(4))
			n, behind := p.Blocks(slices, next, p.Len())
			for _, s := range slices[:n] {
				listed = append(listed, s...)
			}
			if behind <= next || behind > p.Len() {
				return fmt.Errorf("%v: slices from %d to %d", k, next, behind)
			}
			next = behind
		}
		if !bytes.Equal(listed, rest) {
			return fmt.Errorf("%v from byte %d: slices have\n% x, want\n% x", k, at, listed, rest)
		}
		if x.overlaps {
			continue
		}
		fresh := x.random(len(rest) + 3)
		after := bytes.Clone(x.mem)
		for i, o := range x.offs[k[0]+at : k[1]] {
			after[x.origin+o] = fresh[i]
		}
		p.Unpack(fresh, at)
		if !bytes.Equal(x.mem, after) {
			return fmt.Errorf("%v from byte %d: unpacked\n% x, want\n% x", k, at, x.mem, after)
		}
		copy(want, x.packed())
	}
	return nil
}

// copy copies between parts of this layout and of another layout with the same signature.
func (x *checker) copy() error {
	if len(x.offs) == 0 {
		return nil
	}
	s := dtypetest.Regroup(x.r, x.set, x.all.Elems(), 1+x.r.IntN(2)*x.r.IntN(20))
	m := s.Typemap(x.set, 1<<20)
	t, err := s.Build(x.set)
	if err != nil {
		return err
	}
	t.Commit()
	lo, hi := m.TrueBounds()
	memory := x.random(int(hi - lo))
	b, err := dtype.Bind(memory, -lo, t, 1)
	if err != nil {
		return err
	}
	for _, k := range append(x.ranges(), [2]int{0, len(x.offs)}) {
		to := x.r.IntN(len(x.offs)) // the position in the packed form of the other layout
		n := min(k[1]-k[0], len(x.offs)-to)
		after := bytes.Clone(memory)
		for i, o := range m.Offsets()[to : to+n] {
			after[o-lo] = x.mem[x.origin+x.offs[k[0]+i]]
		}
		mem.Copy(mem.In(&b).From(to), mem.In(&x.b).Cut(k[0], k[1]))
		if !bytes.Equal(memory, after) {
			return fmt.Errorf("bytes %v to %d of %v:\n% x, want\n% x", k, to, s, memory, after)
		}
	}
	return nil
}
