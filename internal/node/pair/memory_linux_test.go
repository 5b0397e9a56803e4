package pair

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// agree runs Offer and Take at the ends of a connection.
func agree(t *testing.T, offers, takes bool) (a, b *Memory, whyA, whyB error) {
	t.Helper()
	left, right := net.Pipe()
	defer left.Close()
	defer right.Close()
	done := make(chan error, 1)
	go func() {
		var failed error
		b, whyB, failed = Take(right, takes)
		done <- failed
	}()
	a, whyA, failed := Offer(left, offers)
	if err := errors.Join(failed, <-done); err != nil {
		t.Fatal(err)
	}
	return a, b, whyA, whyB
}

func descriptors() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// Both ends see the stores of the other one, and keep no descriptor.
func TestOfferAndTake(t *testing.T) {
	before := descriptors()
	a, b, _, _ := agree(t, true, true)
	if a == nil || b == nil {
		t.Fatal("no memory")
	}
	if n := descriptors(); n != before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
	a.Out()[5] = 7
	b.Out()[5] = 8
	if b.In()[5] != 7 || a.In()[5] != 8 {
		t.Errorf("the ends read %d and %d, want 8 and 7", a.In()[5], b.In()[5])
	}
	a.Mine().Armed.Store(1)
	if b.Theirs().Armed.Load() != 1 || a.Theirs().Armed.Load() != 0 {
		t.Error("the doors are not those of the ends")
	}
	secret := []byte("secret")
	got := make([]byte, len(secret))
	if !b.CanRead() {
		t.Error("a process cannot read its own memory")
	} else if err := b.Read([][]byte{got}, address(secret)); err != nil || string(got) != "secret" {
		t.Errorf("read %q, %v", got, err)
	}
	for range 2 {
		if err := errors.Join(a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	}
	if a.CanRead() || a.Read([][]byte{got}, address(secret)) == nil {
		t.Error("memory that has been closed is read")
	}
}

// If one of the two processes wants no memory, they share none, and both get the reason.
func TestUnwanted(t *testing.T) {
	for _, c := range []struct{ offers, takes bool }{{false, true}, {true, false}, {false, false}} {
		a, b, whyA, whyB := agree(t, c.offers, c.takes)
		if a != nil || b != nil || whyA == nil || whyB == nil {
			t.Errorf("%v: %v %v, %v, %v", c, a, b, whyA, whyB)
		}
	}
}

// offer makes an offer of a descriptor.
func offer(kind, pid int, fd uintptr, mark shmfmt.Mark) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(kind))
	b = le.AppendUint32(b, uint32(pid))
	return append(le.AppendUint32(b, uint32(fd)), mark[:]...)
}

// Offers of anything but a segment with the mark are refused, and leave nothing open (S5).
func TestS5_ForgedOffers(t *testing.T) {
	file := func(f *os.File, err error) *os.File {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	mark := shmfmt.Mark{1}
	good := file(sys.PairFile("halo-pair", shmfmt.PairSize))
	mem, err := sys.Map(good, shmfmt.PairSize)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Unmap(mem)
	shmfmt.FormatPair(mem, mark)
	r, w, err := os.Pipe()
	file(r, err)
	file(w, err)
	null := file(os.OpenFile("/dev/null", os.O_RDWR, 0))
	disk := file(os.Create(t.TempDir() + "/file"))
	disk.Truncate(shmfmt.PairSize)
	unsealed := file(sys.Memfd("halo-pair", shmfmt.PairSize))
	short := file(sys.PairFile("halo-pair", shmfmt.PairSize-4096))
	before, me := descriptors(), os.Getpid()
	for name, c := range map[string]struct {
		offer []byte
		want  string
	}{
		"another mark": {offer(offered, me, good.Fd(), shmfmt.Mark{2}), "other processes"},
		"no segment":   {offer(offered, me, file(sys.PairFile("halo-pair", shmfmt.PairSize)).Fd(), mark), "other processes"},
		"pipe":         {offer(offered, me, r.Fd(), mark), "no memory file"},
		"device":       {offer(offered, me, null.Fd(), mark), "no memory file"},
		"file":         {offer(offered, me, disk.Fd(), mark), ""},
		"unsealed":     {offer(offered, me, unsealed.Fd(), mark), "can be made shorter"},
		"short":        {offer(offered, me, short.Fd(), mark), "no memory file"},
		"closed":       {offer(offered, me, 1<<20, mark), "no such file"},
		"nobody":       {offer(offered, 1<<30, good.Fd(), mark), "no such file"},
		"kind":         {offer(7, me, good.Fd(), mark), "offers none"},
	} {
		var answer answer
		m, why, failed := Take(&struct {
			io.Reader
			io.Writer
		}{strings.NewReader(string(c.offer)), &answer}, true)
		if m != nil || failed != nil || why == nil || !strings.Contains(why.Error(), c.want) || len(answer) != 1 || answer[0] != refused {
			t.Errorf("%s: %v, %v, %v, answer %v", name, m, why, failed, answer)
		}
		if n := descriptors(); n > before+1 {
			t.Errorf("%s: %d descriptors, %d before", name, n, before)
		}
	}
	if m, why, failed := Take(&struct {
		io.Reader
		io.Writer
	}{strings.NewReader(string(offer(offered, me, good.Fd(), mark))), io.Discard}, true); m == nil || failed != nil {
		t.Errorf("a valid offer: %v, %v", why, failed)
	} else {
		m.Close()
	}
	for n := range offerSize {
		if m, _, failed := Take(&struct {
			io.Reader
			io.Writer
		}{strings.NewReader(string(offer(offered, me, good.Fd(), mark)[:n])), io.Discard}, true); m != nil || failed == nil {
			t.Errorf("an offer of %d bytes is taken", n)
		}
	}
}

// answer keeps what is written.
type answer []byte

func (a *answer) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// address is where a slice begins.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
