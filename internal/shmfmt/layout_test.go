package shmfmt

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew; then count Version up")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: the layout is not that of version %d; a changed layout needs a new Version.\ngot:\n%s\nwant:\n%s", name, Version, got, want)
	}
}

// listing collects lines of a golden file.
type listing struct{ strings.Builder }

func (l *listing) line(what string, n any) { fmt.Fprintf(l, "%-36s %v\n", what, n) }

// fields lists the offsets of the fields of a struct. Padding has no name.
func (l *listing) fields(v any) {
	s := reflect.TypeOf(v)
	l.line(s.Name(), fmt.Sprint(s.Size(), " bytes"))
	for i := range s.NumField() {
		if f := s.Field(i); f.Name != "_" {
			l.line("  "+f.Name, fmt.Sprint(f.Offset, " ", f.Type.Size()))
		}
	}
}

// The layout in memory is a format: a field that moves needs a new Version.
func TestLayoutIsGolden(t *testing.T) {
	var l listing
	l.line("version", Version)
	l.line("magic", fmt.Sprintf("%#x", magic))
	l.line("page", page)
	l.line("Line", Line)
	l.line("MaxLocal", MaxLocal)
	l.fields(Door{})
	l.fields(segmentHeader{})
	l.line("bitmap at", Line)
	l.fields(ringControl{})
	l.line("ring data at", page)
	l.line("RingBytes", RingBytes)
	l.line("RingStride", RingStride)
	l.line("MaxFrame", MaxFrame)
	l.line("kind of padding", kindPad)
	l.fields(Offer{})
	for _, n := range []int{1, 2, 64, 65, 1000, MaxLocal} {
		l.line(fmt.Sprintf("segment of %d: rings at", n), ringStart(n))
		l.line(fmt.Sprintf("segment of %d: offers at", n), offerStart(n))
		l.line(fmt.Sprintf("segment of %d: size", n), SegmentSize(n))
		l.line(fmt.Sprintf("segment of %d: heap at", n), HeapStart(n))
	}
	golden(t, "layout.txt", l.String())
}

func TestSlotLayoutIsGolden(t *testing.T) {
	var l listing
	l.line("version", Version)
	l.line("SlotCount", SlotCount)
	l.line("SlotPayload", SlotPayload)
	l.line("StreamBytes", StreamBytes)
	l.line("StageSize", StageSize)
	l.fields(Release{})
	l.fields(Cell{})
	l.fields(Turn{})
	l.fields(SlotHead{})
	for _, n := range []int{1, 2, 64, 65, 1000, MaxLocal} {
		l.line(fmt.Sprintf("control of %d: slots at", n), roundPage(int64(n)*DoorSize))
		l.line(fmt.Sprintf("control of %d: slot size", n), SlotSize(n))
		l.line(fmt.Sprintf("control of %d: bulk memory at", n), bulkStart(n))
		l.line(fmt.Sprintf("control of %d: bulk memory of a slot", n), BulkSize(n))
		l.line(fmt.Sprintf("control of %d: size", n), ControlSize(n))
	}
	golden(t, "slot.txt", l.String())
}

// Records that only Go and C of one process share have a version of their own.
func TestSlotStateLayoutIsGolden(t *testing.T) {
	var l listing
	l.fields(SlotState{})
	l.fields(SlotStream{})
	golden(t, "slot_state.txt", l.String())
}

func TestTypeLayoutIsGolden(t *testing.T) {
	var l listing
	l.fields(Type{})
	l.fields(Node{})
	golden(t, "type.txt", l.String())
}

// A segment with some frames has these bytes.
func TestSegmentIsGolden(t *testing.T) {
	mem := heapMemory(SegmentSize(3))
	s, err := FormatSegment(mem, 1, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Activate(2)
	p, c := NewProducer(s.Ring(2)), NewConsumer(s.Ring(2))
	put := func(h wire.Header, payload []byte) {
		h.Size = uint32(len(payload))
		if !p.Put(&h, payload) {
			t.Fatal("no room")
		}
	}
	take := func() {
		var h wire.Header
		if _, ok, err := c.Next(&h); !ok || err != nil {
			t.Fatal(ok, err)
		}
		c.Done()
	}
	put(wire.Header{Kind: wire.Eager, Flags: 0x12, Chan: 0x3456, Ctx: 0x0102030405060708, Tag: -2, Aux: 0xa1a2a3a4,
		Arg: 0x1112131415161718, Name: 0x2122232425262728}, nil)
	put(wire.Header{Kind: wire.EagerSync, Tag: 7}, []byte("8 bytes."))
	put(wire.Header{Kind: wire.Data, Arg: 1}, bytes.Repeat([]byte("spans two lines "), 5))
	take()
	for range 3 {
		put(wire.Header{Kind: wire.Data}, make([]byte, MaxFrame))
		take()
	}
	put(wire.Header{Kind: wire.Data}, make([]byte, 15<<10))
	for range 3 {
		take()
	}
	put(wire.Header{Kind: wire.Data}, bytes.Repeat([]byte{0xab}, 1000)) // skips to the start
	for n := 0; p.Put(&wire.Header{Kind: wire.Data, Size: MaxFrame}, make([]byte, MaxFrame)); n++ {
		if n > 10 {
			t.Fatal("the ring takes everything")
		}
	}
	golden(t, "segment.hex", dump(mem))
}

// dump writes memory in lines of 32 bytes, without those that are zero.
func dump(mem []byte) string {
	var b strings.Builder
	for at := 0; at < len(mem); at += 32 {
		if line := mem[at : at+32]; !bytes.Equal(line, make([]byte, 32)) {
			fmt.Fprintf(&b, "%06x %s\n", at, hex.EncodeToString(line))
		}
	}
	return b.String()
}

// Words that different processes write are in different lines.
func TestWritersDoNotShareLines(t *testing.T) {
	var d Door
	var h SlotHead
	var r ringControl
	var cell Cell
	for name, offsets := range map[string][]uintptr{
		"Door":        {unsafe.Offsetof(d.Armed), unsafe.Offsetof(d.Bell), unsafe.Offsetof(d.Pid), unsafe.Offsetof(d.Call), unsafe.Sizeof(d)},
		"SlotHead":    {unsafe.Offsetof(h.Arrived), unsafe.Offsetof(h.Release), unsafe.Offsetof(h.Sleepers), unsafe.Offsetof(h.Turns), unsafe.Sizeof(h)},
		"ringControl": {unsafe.Offsetof(r.head), unsafe.Offsetof(r.wait), page},
		"Cell":        {unsafe.Offsetof(cell.Number), unsafe.Offsetof(cell.Passed), unsafe.Sizeof(cell)},
		"Turn":        {0, unsafe.Sizeof(Turn{})},
	} {
		for i, at := range offsets {
			if at%Line != 0 || i > 0 && at <= offsets[i-1] {
				t.Errorf("%s: part %d starts at %d", name, i, at)
			}
		}
	}
	if unsafe.Sizeof(d) != DoorSize {
		t.Errorf("a Door has %d bytes, DoorSize is %d", unsafe.Sizeof(d), DoorSize)
	}
	for _, n := range []int{1, 2, 3, 17} {
		c, err := HeapControl(n)
		if err != nil {
			t.Fatal(err)
		}
		s, err := HeapSegment(0, n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for what, p := range map[string]unsafe.Pointer{
				"door": unsafe.Pointer(c.Door(i)), "cell": unsafe.Pointer(c.Slot(3).Cell(i)),
				"head": unsafe.Pointer(c.Slot(i).Head()), "ring": unsafe.Pointer(&s.Ring(i)[0]),
			} {
				if uintptr(p)%Line != 0 {
					t.Errorf("%s %d of %d starts within a line", what, i, n)
				}
			}
		}
	}
	// A frame of 24 bytes costs one line.
	if entrySize(24) != Line || entrySize(25) != 2*Line {
		t.Errorf("entries of 24 and 25 bytes take %d and %d", entrySize(24), entrySize(25))
	}
}
