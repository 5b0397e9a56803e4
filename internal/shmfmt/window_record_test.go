package shmfmt

import (
	"fmt"
	"testing"
	"unsafe"
)

// The layout of the records that Go and C share is a format: a field that moves needs a new
// windowRecordVersion.
func TestWindowRecordsAreGolden(t *testing.T) {
	var l listing
	l.line("version of records", windowRecordVersion)
	l.fields(ViewRecord{})
	l.fields(WindowRecord{})
	l.fields(LockingRecord{})
	l.fields(TargetRecord{})
	for _, f := range WindowRecordLayout() {
		l.line(f.Name, f.Value)
	}
	golden(t, "window_record.txt", l.String())
}

// Records are whole lines, and the first line of a target contains all that a put to mapped memory
// loads.
func TestWindowRecordsAreLines(t *testing.T) {
	var r TargetRecord
	for what, size := range map[string]uintptr{"view": unsafe.Sizeof(ViewRecord{}), "window": unsafe.Sizeof(WindowRecord{}), "process": unsafe.Sizeof(LockingRecord{})} {
		if size != Line {
			t.Errorf("the record of a %s has %d bytes", what, size)
		}
	}
	if unsafe.Sizeof(r) != TargetRecordSize || unsafe.Offsetof(r.Size) != Line {
		t.Errorf("the record of a target has %d bytes, and its second line begins at %d", unsafe.Sizeof(r), unsafe.Offsetof(r.Size))
	}
}

// Each rank has a record of its own, ranks that do not exist have none, and a copy equals its
// original.
func TestTargetRecords(t *testing.T) {
	var w WindowRecord
	if w.Target(0) != nil {
		t.Error("a window without targets has rank 0")
	}
	w.SetTargets(heapMemory(5 * TargetRecordSize))
	for _, rank := range []int{-1, 5, 1 << 40, -1 << 63} {
		if w.Target(rank) != nil {
			t.Errorf("a window of 5 has rank %d", rank)
		}
	}
	mem := make([]byte, 8)
	for rank := range 5 {
		r := w.Target(rank)
		if r.End.Load() != 0 || r.Gate.Load() != 0 {
			t.Fatalf("rank %d is not closed", rank)
		}
		r.Unit, r.Mem, r.Len, r.Near, r.Size, r.Addr, r.Pid = int64(rank), unsafe.Pointer(&mem[0]), 8, true, 9, 10, 11
		r.SetStripes(HeapStripes(3), 2)
		r.Gate.Store(12)
		r.Framed.Store(true)
		r.May.Store(13)
		r.Lock, r.Held, r.Bare = r.Mem, 15, true
		r.End.Store(14)
	}
	other := heapMemory(TargetRecordSize)
	w.Target(3).Fine = true
	(*TargetRecord)(unsafe.Pointer(&other[0])).Copy(w.Target(3))
	if was := unsafe.Slice((*byte)(unsafe.Pointer(w.Target(3))), TargetRecordSize); fmt.Sprint(other) != fmt.Sprint(was) {
		t.Errorf("a copy is %v of %v", other, was)
	}
}
