package store

import (
	"errors"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/node/inproc"
)

func stores(t *testing.T) map[string]*Store {
	t.Helper()
	w, err := inproc.New(1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := w.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Store{"private": New(nil), "inproc": New(f)}
}

func isBase(err error) bool {
	var e *class.Error
	return errors.As(err, &e) && e.Class == class.Base
}

// MEM-05: Free of anything but the beginning of a live block is an error of class Base.
func TestMEM05FreeOfWhatIsNoBlock(t *testing.T) {
	for name, s := range stores(t) {
		b, err := s.Alloc(1000, 0)
		if err != nil {
			t.Fatal(name, err)
		}
		var stack [8]byte
		for what, mem := range map[string][]byte{"nil": nil, "the stack": stack[:], "the Go heap": make([]byte, 100), "the middle": b.Mem[1:], "the end": b.Mem[999:]} {
			if err := s.Free(mem); !isBase(err) {
				t.Errorf("%s: free of %s: %v", name, what, err)
			}
		}
		if err := s.Free(b.Mem); err != nil {
			t.Error(name, err)
		}
		if err := s.Free(b.Mem); !isBase(err) {
			t.Errorf("%s: second free: %v", name, err)
		}
	}
}

func TestFindTellsWhereMemoryIs(t *testing.T) {
	for name, s := range stores(t) {
		b, err := s.Alloc(1000, 256)
		if err != nil {
			t.Fatal(name, err)
		}
		if (b.Off >= 0) != (name != "private") {
			t.Errorf("%s: offset %d", name, b.Off)
		}
		off, ok := s.Find(b.Mem[10:20])
		if name == "private" {
			if ok {
				t.Error("private memory is found")
			}
			continue
		}
		if !ok || off != b.Off+10 {
			t.Errorf("%s: found %t at %d, want %d", name, ok, off, b.Off+10)
		}
		if _, ok := s.Find(make([]byte, 10)); ok {
			t.Errorf("%s: memory of others is found", name)
		}
		if err := s.Free(b.Mem); err != nil {
			t.Error(name, err)
		}
		if _, ok := s.Find(b.Mem[10:20]); ok {
			t.Errorf("%s: memory that was freed is found", name)
		}
	}
}
