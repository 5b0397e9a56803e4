package shmfmt

import (
	"fmt"
	"testing"
	"unsafe"
)

func heapWindow(t *testing.T, n int) *Window {
	t.Helper()
	w, err := FormatWindow(heapMemory(WindowSize(n)), 7, n)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The parts of a control block are at these offsets.
func TestWindowLayoutIsGolden(t *testing.T) {
	var l listing
	l.line("version", windowVersion)
	l.fields(windowHeader{})
	l.fields(windowTableHead{})
	l.fields(HandleSlot{})
	l.fields(windowCounterHead{})
	l.fields(Counter{})
	l.fields(lockHead{})
	l.fields(windowLine{})
	for _, n := range []int{1, 2, 17, 320, 321} {
		l.line(fmt.Sprintf("window of %d: attach table at", n), windowTable)
		l.line(fmt.Sprintf("window of %d: counters at", n), windowCounters)
		l.line(fmt.Sprintf("window of %d: lock at", n), windowLock)
		l.line(fmt.Sprintf("window of %d: claims at", n), windowLock+lockHeadSize(n))
		l.line(fmt.Sprintf("window of %d: posts at", n), windowPosted(n))
		l.line(fmt.Sprintf("window of %d: stripes at", n), windowStripes(n))
		l.line(fmt.Sprintf("window of %d: size", n), WindowSize(n))
	}
	golden(t, "window.txt", l.String())
}

// The parts of a control block are disjoint and inside it, and words that different origins write are in
// different lines.
func TestWindowPartsAreDisjoint(t *testing.T) {
	for _, n := range []int{1, 2, 7, 63, 64, 400} {
		mem := heapMemory(WindowSize(n))
		w, err := newWindow(mem, n)
		if err != nil {
			t.Fatal(err)
		}
		mark := func(what string, p unsafe.Pointer, size uintptr) {
			at := uintptr(p) - uintptr(unsafe.Pointer(&mem[0]))
			for i := range size {
				if at+i >= uintptr(len(mem)) || mem[at+i] != 0 {
					t.Fatalf("%d processes: %s overlaps something at %d", n, what, at+i)
				}
				mem[at+i] = 1
			}
		}
		mark("header", unsafe.Pointer(w.header()), unsafe.Sizeof(windowHeader{}))
		mark("version", unsafe.Pointer(w.TableVersion()), 8)
		mark("off", unsafe.Pointer(w.TableOff()), 8)
		mark("len", unsafe.Pointer(w.TableLen()), 8)
		mark("counters", unsafe.Pointer(w.counters()), unsafe.Sizeof(windowCounterHead{}))
		l := w.Lock()
		mark("lock", unsafe.Pointer(l.head), unsafe.Sizeof(lockHead{}))
		mark("bits", unsafe.Pointer(&l.bits[0]), uintptr(8*len(l.bits)))
		for i := range n + 1 {
			line := l.line(i)
			if uintptr(unsafe.Pointer(line))%Line != 0 {
				t.Fatalf("the line of claimant %d begins in the middle of one", i)
			}
			mark("claim", unsafe.Pointer(&line.claim), 8)
			if i < n {
				mark("completed", unsafe.Pointer(w.Completed(i)), 8)
				mark("posted", unsafe.Pointer(w.Posted(i)), 8)
			}
		}
		for s := range StripeCount {
			mark("writer", unsafe.Pointer(w.Stripes().writer(s)), 8)
			for i := range n {
				mark("readers", unsafe.Pointer(w.Stripes().readers(s, i)), 8)
			}
		}
		if l.Service() != n || len(l.bits)*64 < n+1 {
			t.Errorf("%d processes: the service is %d, there are %d words of bits", n, l.Service(), len(l.bits))
		}
	}
}

// S5: a control block of another window, layout or length is an error.
func TestS5_WindowOfSomebodyElseIsRefused(t *testing.T) {
	mem := heapMemory(WindowSize(4))
	if _, err := OpenWindow(mem, 7, 4); err == nil {
		t.Error("a block that nobody has formatted is opened")
	}
	if _, err := FormatWindow(mem, 7, 4); err != nil {
		t.Fatal(err)
	}
	if w, err := OpenWindow(mem, 7, 4); err != nil || w.Local() != 4 {
		t.Errorf("%v, %v", w, err)
	}
	for name, open := range map[string]func() (*Window, error){
		"another id":    func() (*Window, error) { return OpenWindow(mem, 8, 4) },
		"fewer":         func() (*Window, error) { return OpenWindow(mem, 7, 3) },
		"none":          func() (*Window, error) { return OpenWindow(mem, 7, 0) },
		"too many":      func() (*Window, error) { return OpenWindow(mem, 7, MaxLocal+1) },
		"too short":     func() (*Window, error) { return OpenWindow(mem[:len(mem)-1], 7, 4) },
		"shifted":       func() (*Window, error) { return OpenWindow(mem[8:], 7, 3) },
		"nothing":       func() (*Window, error) { return OpenWindow(nil, 7, 1) },
		"format, short": func() (*Window, error) { return FormatWindow(mem[:64], 7, 4) },
	} {
		if _, err := open(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
