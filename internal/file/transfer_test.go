package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/mem"
)

func TestMain(m *testing.M) { leak.Main(m) }

// newFile is a file of one process.
func newFile(s store, m Mode) *File {
	f := &File{e: &Engine{}, store: s, mode: m}
	f.SetHints(DefaultHints())
	return f
}

// sieves sets whether reads may read holes.
func sieves(f *File, yes bool) {
	h := f.Hints()
	h.Sieve = Automatic
	if !yes {
		h.Sieve = Disable
	}
	f.SetHints(h)
}

// memory returns n bytes of memory in some layout, and the bytes of it in packed order.
func memory(t *testing.T, set *dtype.Set, r *rand.Rand, n int) (mem.Mem, func() []byte, func([]byte)) {
	t.Helper()
	if n%4 != 0 || r.IntN(3) == 0 {
		b := make([]byte, n)
		return mem.Of(b), func() []byte { return b }, func(x []byte) { copy(b, x) }
	}
	block := int64(1)
	if r.IntN(3) == 0 {
		block = 1500 // long enough for vectored calls
	}
	typ, err := dtype.Vector(2, block, block+3, set.Named("MPI_INT16_T"))
	if err != nil {
		t.Fatal(err)
	}
	count := int64(n) / (4 * block)
	if count == 0 || int64(n)%(4*block) != 0 {
		typ, err = dtype.Vector(2, 1, 4, set.Named("MPI_INT16_T"))
		count = int64(n / 4)
		if err != nil {
			t.Fatal(err)
		}
	}
	typ.Commit()
	_, extent := typ.Extent()
	room := make([]byte, count*extent)
	var b dtype.Buffer
	if err := b.Bind(room, 0, typ, count); err != nil {
		t.Fatal(err)
	}
	return mem.In(&b), func() []byte {
		out := make([]byte, n)
		b.PackAll(out)
		return out
	}, func(x []byte) { b.UnpackAll(x) }
}

// Accesses through random views, of memory of random layouts, move the bytes that the typemaps say,
// though the calls of the system transfer less than they are asked for; writes touch no other byte,
// and reads end where the file does (IO-04, IO-07).
func TestIO04_RandomViews(t *testing.T) {
	set := dtype.Predefined()
	tested := 0
	for seed := uint64(1); tested < 400; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		s := dtypetest.Generator{}.Spec(r, 1+int(seed%5))
		m := s.Typemap(set, 6000)
		if m == nil || m.Size() == 0 || len(m.Entries) > 100 {
			continue
		}
		filetype, err := s.Build(set)
		if err != nil {
			t.Fatal(err)
		}
		filetype.Commit()
		disp := r.Int64N(50)
		v, err := newView(disp, set.Named("MPI_BYTE"), filetype, Native, true, set.Named("MPI_BYTE"), nil)
		if err != nil {
			continue // displacements descend, or elements overlap
		}
		tested++
		tiles := int64(40)
		if v.tiles.Count() == 1 {
			tiles = 1
		}
		offsets := m.Times(tiles).Offsets()
		before := make([]byte, disp+offsets[len(offsets)-1]+1+r.Int64N(9))
		for i := range before {
			before[i] = byte(r.Uint32())
		}
		store := &flaky{b: bytes.Clone(before), r: r}
		f := newFile(store, ReadWrite)
		sieves(f, seed%4 != 0)
		f.view.Store(v)
		for range 4 {
			at := r.IntN(len(offsets))
			n := r.IntN(len(offsets) - at + 1)
			if r.IntN(2) == 0 {
				n &^= 3
			}
			x, get, set := memory(t, set, r, n)
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			set(data)
			if k, err := f.Do(Write, int64(at), Data{Mem: x}); err != nil || k != int64(n) {
				t.Fatalf("seed %d: write of %d bytes: %d, %v", seed, n, k, err)
			}
			for i, b := range data {
				before[disp+offsets[at+i]] = b
			}
			if !bytes.Equal(store.b, before) {
				t.Fatalf("seed %d: view of %v: the file differs after %d bytes at %d", seed, filetype, n, at)
			}
			if end := r.IntN(len(store.b)) + 1; r.IntN(3) == 0 {
				store.b, before = store.b[:end], before[:end]
			}
			want := 0
			for want < n && disp+offsets[at+want] < int64(len(before)) {
				want++
			}
			set(make([]byte, n))
			k, err := f.Do(Read, int64(at), Data{Mem: x})
			if err != nil || k != int64(want) {
				t.Fatalf("seed %d: view of %v: read of %d bytes at %d: %d, %v; want %d", seed, filetype, n, at, k, err, want)
			}
			for i, b := range get()[:want] {
				if b != before[disp+offsets[at+i]] {
					t.Fatalf("seed %d: view of %v: byte %d of %d read at %d differs", seed, filetype, i, n, at)
				}
			}
			grown := make([]byte, disp+offsets[len(offsets)-1]+1)
			copy(grown, before)
			before = grown
			store.b = bytes.Clone(grown)
		}
	}
}

// everyOther is a view of every other one of n integers of 4 bytes, again and again.
func everyOther(t *testing.T, n int64) *View {
	t.Helper()
	set := dtype.Predefined()
	filetype, err := dtype.Vector(n, 1, 2, set.Named("MPI_INT32_T"))
	if err != nil {
		t.Fatal(err)
	}
	filetype.Commit()
	v, err := newView(0, set.Named("MPI_INT32_T"), filetype, Native, true, set.Named("MPI_BYTE"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Writes never write bytes that the view does not own, not even with what they contain: another
// process may write them meanwhile (IO-04).
func TestIO04_WritesTouchTheViewOnly(t *testing.T) {
	v := everyOther(t, 100)
	store := &flaky{}
	f := newFile(store, WriteOnly)
	f.view.Store(v)
	if n, err := f.Do(Write, 0, Data{Mem: mem.Of(make([]byte, 400))}); n != 400 || err != nil {
		t.Fatal(n, err)
	}
	for _, w := range store.wrote {
		if w[0]%8 != 0 || w[1] != 4 {
			t.Fatalf("wrote %d bytes at %d", w[1], w[0])
		}
	}
}

// A read of many short runs makes few calls, unless the hint forbids data sieving.
func TestReadsAreSieved(t *testing.T) {
	v := everyOther(t, 64)
	for sieve, most := range map[bool]int{true: 10, false: 631} { // the last block of an element touches the next
		store := &flaky{b: make([]byte, 1<<16)}
		f := newFile(store, ReadOnly)
		sieves(f, sieve)
		f.view.Store(v)
		if n, err := f.Do(Read, 0, Data{Mem: mem.Of(make([]byte, 4*640))}); n != 4*640 || err != nil {
			t.Fatal(n, err)
		}
		if store.calls > most || !sieve && store.calls < most {
			t.Errorf("%d calls with sieving %v, want %d", store.calls, sieve, most)
		}
	}
}

// What the system refuses has its class, and the number of bytes that were written (IO-06).
func TestIO06_ErrorsOfTheSystem(t *testing.T) {
	set := dtype.Predefined()
	v, err := newView(0, set.Named("MPI_BYTE"), set.Named("MPI_BYTE"), Native, true, set.Named("MPI_BYTE"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for no, want := range map[syscall.Errno]class.Class{
		syscall.ENOSPC: class.NoSpace, syscall.EDQUOT: class.Quota, syscall.EIO: class.IO, syscall.ESTALE: class.IO,
		syscall.EROFS: class.ReadOnly, syscall.EACCES: class.Access,
	} {
		f := newFile(&flaky{room: 1000, full: no, r: rand.New(rand.NewPCG(1, uint64(no)))}, ReadWrite)
		f.view.Store(v)
		n, err := f.Do(Write, 990, Data{Mem: mem.Of(make([]byte, 100))})
		var ce *class.Error
		if n >= 100 || !errors.As(err, &ce) || ce.Class != want || !errors.Is(err, no) {
			t.Errorf("%v: wrote %d bytes, %v", no, n, err)
		}
	}
	f := newFile(&flaky{}, ReadWrite)
	f.limit = 50
	f.view.Store(v)
	if n, err := f.Do(Write, 20, Data{Mem: mem.Of(make([]byte, 100))}); n != 30 || classOf(err) != class.Quota {
		t.Errorf("beyond the limit of the process: %d bytes, %v", n, err)
	}
}

// ERR-15: every error number of the system has the class that the standard has for it, whatever function reports it;
// those without a class of their own are MPI_ERR_IO.
func TestERR15_ClassesOfErrorNumbers(t *testing.T) {
	for want, list := range map[class.Class][]syscall.Errno{
		class.NoSuchFile:           {syscall.ENOENT},
		class.FileExists:           {syscall.EEXIST},
		class.FileInUse:            {syscall.EBUSY, syscall.ETXTBSY},
		class.BadFile:              {syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP},
		class.Access:               {syscall.EACCES, syscall.EPERM},
		class.ReadOnly:             {syscall.EROFS},
		class.NoSpace:              {syscall.ENOSPC},
		class.Quota:                {syscall.EDQUOT, syscall.EFBIG},
		class.Buffer:               {syscall.EFAULT},
		class.NoMem:                {syscall.ENOMEM},
		class.UnsupportedOperation: {syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.ESPIPE},
		class.IO:                   {syscall.EIO, syscall.ESTALE, syscall.EINVAL, syscall.ENXIO, syscall.EMFILE, syscall.ENOLCK},
	} {
		for _, no := range list {
			for _, cause := range []error{no, &fs.PathError{Op: "open", Path: "/a/path", Err: no}} {
				err := failed(cause, "open with %v", ReadOnly)
				if classOf(err) != want || err.Error() != "open with MPI_MODE_RDONLY: "+no.Error() || !errors.Is(err, no) {
					t.Errorf("%v: class %v of %q, want %v", no, classOf(err), err, want)
				}
			}
		}
	}
	if c := classOf(fmt.Errorf("locks: %w", errors.ErrUnsupported)); c != class.UnsupportedOperation {
		t.Errorf("what the platform lacks is %v", c)
	}
}

// The fast path makes no allocation.
func TestContiguousAccessesAllocateNothing(t *testing.T) {
	set := dtype.Predefined()
	v, err := newView(0, set.Named("MPI_BYTE"), set.Named("MPI_BYTE"), Native, true, set.Named("MPI_BYTE"), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := newFile(&flaky{b: make([]byte, 4096)}, ReadWrite)
	f.view.Store(v)
	b := make([]byte, 1024)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := f.Do(Read, 7, Data{Mem: mem.Of(b)}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
