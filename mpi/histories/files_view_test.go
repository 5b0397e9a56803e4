package histories_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
)

// fileView is what a rank sees of a file.
type fileView struct {
	basic           dtype.ID // of which elementary type and file type consist
	disp            int64
	etype, filetype *dtypetest.Spec
	rep             string

	one     int64 // bytes of a basic element in the file
	unit    int64 // bytes of an elementary type in the file
	size    int64 // bytes of data of a file type in the file
	extent  int64
	entries []run // of a file type in the file
	apart   bool  // no byte occurs twice
}

// run is bytes of a file.
type run struct{ off, n int64 }

func (v *fileView) String() string {
	return fmt.Sprintf("%s from byte %d, elements of %v, %v", v.rep, v.disp, v.etype, v.filetype)
}

// fileBasics are the basic types of views. In external32 a long takes 4 bytes and a wide character 2.
func fileBasics() []dtype.ID {
	return []dtype.ID{dtype.Byte, dtype.Int16, dtype.Int, dtype.Double, dtype.Long, dtype.Wchar, dtype.Float, dtype.LongDouble}
}

// inFile is the number of bytes of a basic element in a representation.
func inFile(id dtype.ID, rep string) int64 {
	t := types.Type(id)
	if rep == external32 {
		n, err := t.ExternalSize(1)
		if err != nil {
			panic(err)
		}
		return n
	}
	return t.Size() + stamps(rep)
}

const external32 = "external32"

// asInFile replaces the basic types of a spec by bytes: the layout in the file.
func asInFile(s *dtypetest.Spec, rep string) *dtypetest.Spec {
	if !converts(rep) {
		return s
	}
	if s.Combiner == dtype.CombinerNamed {
		return dtypetest.Contiguous(inFile(s.ID, rep), dtypetest.Named(dtype.Byte))
	}
	c := *s
	c.Kids = nil
	for _, k := range s.Kids {
		c.Kids = append(c.Kids, asInFile(k, rep))
	}
	return &c
}

// newFileView computes what follows from the arguments of a view. It returns nil for a file type that
// views do not allow, or that is too long for the oracle.
func newFileView(basic dtype.ID, disp int64, etype, filetype *dtypetest.Spec, rep string) *fileView {
	v := &fileView{basic: basic, disp: disp, etype: etype, filetype: filetype, rep: rep, one: inFile(basic, rep)}
	m := asInFile(filetype, rep).Typemap(types, 3000)
	e := asInFile(etype, rep).Typemap(types, 3000)
	if m == nil || e == nil {
		return nil
	}
	v.unit, v.size, v.extent = e.Size(), m.Size(), m.Extent()
	if v.size == 0 || v.size%v.unit != 0 || v.extent <= 0 {
		return nil
	}
	for _, x := range m.Entries {
		if k := len(v.entries) - 1; k >= 0 && v.entries[k].off+v.entries[k].n == x.Off {
			v.entries[k].n += x.Elem.Size
			continue
		}
		v.entries = append(v.entries, run{x.Off, x.Elem.Size})
	}
	first, last := v.entries[0], v.entries[len(v.entries)-1]
	if first.off < 0 || first.off+v.extent < last.off {
		return nil
	}
	v.apart = last.off+last.n <= first.off+v.extent
	for i, r := range v.entries[1:] {
		switch before := v.entries[i]; {
		case r.off < before.off:
			return nil
		case r.off < before.off+before.n:
			v.apart = false
		}
	}
	return v
}

// runs are the bytes of the file of n bytes of data from position at on.
func (v *fileView) runs(at, n int64) (list []run) {
	tile, rest := at/v.size, at%v.size
	for ; n > 0; tile++ {
		for _, e := range v.entries {
			if rest >= e.n {
				rest -= e.n
				continue
			}
			k := min(e.n-rest, n)
			if k == 0 {
				break
			}
			off := v.disp + tile*v.extent + e.off + rest
			rest = 0
			n -= k
			if last := len(list) - 1; last >= 0 && list[last].off+list[last].n == off {
				list[last].n += k
				continue
			}
			list = append(list, run{off, k})
		}
	}
	return list
}

// end is the position of the end of a file of size bytes: of the first elementary type behind it.
func (v *fileView) end(size int64) int64 {
	reach := int64(0) // of an element, which may be more than the extent
	for _, e := range v.entries {
		reach = max(reach, e.off+e.n)
	}
	at := max(0, (size-v.disp-reach)/v.extent) * v.size
	for v.runs(at, 1)[0].off < size {
		at += v.unit
	}
	return at
}

// within is how many bytes of data are before the end of a file of size bytes, up to the first that is
// not.
func within(list []run, size int64) (n int64) {
	for _, r := range list {
		k := min(max(0, size-r.off), r.n)
		n += k
		if k < r.n {
			break
		}
	}
	return n
}

// endOf is the end of the last byte of runs.
func endOf(list []run) (end int64) {
	for _, r := range list {
		end = max(end, r.off+r.n)
	}
	return end
}

// meet reports whether two lists have a byte in common.
func meet(a, b []run) bool {
	a, b = sorted(a), sorted(b)
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i].off+a[i].n <= b[k].off:
			i++
		case b[k].off+b[k].n <= a[i].off:
			k++
		default:
			return true
		}
	}
	return false
}

// sorted is the list with ascending, separate runs.
func sorted(list []run) []run {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b run) int { return int(a.off - b.off) })
	merged := out[:0]
	for _, r := range out {
		if k := len(merged) - 1; k >= 0 && r.off <= merged[k].off+merged[k].n {
			merged[k].n = max(merged[k].n, r.off+r.n-merged[k].off)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// makeFileViews makes views of n ranks. apart says that no byte may occur twice in one.
func makeFileViews(r *rand.Rand, n int, apart bool) []*fileView {
	same, rep := r.IntN(2) == 0, []string{"native", "native", "native", "internal", external32, external32, inverted, stamped}[r.IntN(8)]
	basic := fileBasics()[r.IntN(len(fileBasics()))]
	if rep == inverted || rep == stamped {
		rep = registered(rep, basic)
	}
	if rep == external32 && basic == dtype.LongDouble {
		basic = dtype.Double // conversions of any bytes of a file to long doubles would round
	}
	leaf := dtypetest.Named(basic)
	etype := leaf
	if r.IntN(4) == 0 {
		etype = dtypetest.Contiguous(int64(2+r.IntN(2)), leaf)
	}
	for range 30 {
		of, shift := fileTypes(r, n, basic, etype, rep, apart)
		disp := int64(r.IntN(3) * r.IntN(60))
		list := []*fileView{}
		for rank := range n {
			if same {
				rank = 0
			}
			v := newFileView(basic, disp+int64(rank)*shift, etype, of(rank), rep)
			if v == nil || apart && !v.apart {
				break
			}
			list = append(list, v)
		}
		if len(list) == n {
			return list
		}
	}
	return slices.Repeat([]*fileView{bytesView()}, n)
}

// bytesView is the view of a file that has been opened.
func bytesView() *fileView {
	b := dtypetest.Named(dtype.Byte)
	return newFileView(dtype.Byte, 0, b, b, "native")
}

// fileTypes chooses a kind of file type: a function that makes that of each rank, and the distance of
// their displacements in bytes. Most kinds divide the file among the ranks.
func fileTypes(r *rand.Rand, n int, basic dtype.ID, etype *dtypetest.Spec, rep string, apart bool) (of func(rank int) *dtypetest.Spec, shift int64) {
	e := asInFile(etype, rep).Typemap(types, 100).Size()
	k := int64(1 + r.IntN(8))
	if r.IntN(4) == 0 {
		k = int64(1 + r.IntN(300))
	}
	gaps := int64(n + r.IntN(2)*r.IntN(3))
	always := func(s *dtypetest.Spec) func(int) *dtypetest.Spec { return func(int) *dtypetest.Spec { return s } }
	two := func(kind dtype.Combiner, ints ...int64) *dtypetest.Spec {
		return &dtypetest.Spec{Combiner: kind, Ints: ints, Kids: []*dtypetest.Spec{etype}}
	}
	if !apart && r.IntN(3) == 0 { // blocks that overlap
		return always(two(dtype.CombinerVector, 2+int64(r.IntN(5)), k+1+int64(r.IntN(3)), k)), e * int64(r.IntN(4))
	}
	switch r.IntN(9) {
	case 0:
		return always(etype), 0
	case 1: // blocks in turn
		return always(dtypetest.Resized(dtypetest.Contiguous(k, etype), 0, e*k*gaps)), e * k
	case 2: // columns
		rows := int64(1 + r.IntN(6))
		return always(dtypetest.Resized(two(dtype.CombinerVector, rows, k, k*gaps), 0, e*rows*k*gaps)), e * k
	case 3: // part of a matrix
		rows, cols := int64(1+r.IntN(4)), k%20+1
		return func(rank int) *dtypetest.Spec {
			return two(dtype.CombinerSubarray, 2, rows, cols*int64(n), rows, cols, 0, cols*int64(rank), int64(dtype.OrderC))
		}, 0
	case 4:
		rows, cols := int64(n)*(k%5+1), int64(1+r.IntN(7))
		return func(rank int) *dtypetest.Spec {
			return two(dtype.CombinerSubarray, 2, cols, rows, cols, rows/int64(n), 0, rows/int64(n)*int64(rank), int64(dtype.OrderFortran))
		}, e * rows * cols * int64(r.IntN(2))
	case 5, 6: // of a distributed array
		rows, cols, block, order := int64(1+r.IntN(12)), k%12+int64(n), int64(1+r.IntN(3)), int64(dtype.OrderC)
		kind, arg := int64(dtype.DistributeCyclic), block
		if r.IntN(2) == 0 {
			kind, arg = int64(dtype.DistributeBlock), int64(dtype.DistributeDefault)
		}
		return func(rank int) *dtypetest.Spec {
			return two(dtype.CombinerDarray, int64(n), int64(rank), 2, rows, cols, int64(dtype.DistributeNone), kind, int64(dtype.DistributeDefault), arg, 1, int64(n), order)
		}, 0
	case 7: // blocks of two lengths at displacements in bytes
		s := &dtypetest.Spec{Combiner: dtype.CombinerStruct, Ints: []int64{2, 1, k}, Addrs: []int64{0, e * (1 + int64(r.IntN(3)))}, Kids: []*dtypetest.Spec{etype, etype}}
		all := s.Addrs[1] + e*k
		return always(dtypetest.Resized(s, 0, all*gaps)), all
	}
	random := dtypetest.Generator{Basics: []dtype.ID{basic}}
	return func(int) *dtypetest.Spec {
		for {
			s := random.Spec(r, 1+r.IntN(3))
			if !converts(rep) || !inBytes(s) {
				return s
			}
		}
	}, 0
}

// inBytes reports whether a spec has displacements in bytes.
func inBytes(s *dtypetest.Spec) bool { return len(s.Addrs) > 0 || slices.ContainsFunc(s.Kids, inBytes) }
