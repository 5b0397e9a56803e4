package shmfmt

import (
	"sync/atomic"
	"testing"
	"unsafe"
)

// The layout of the records of messages is a format: a field that moves needs a new
// messageRecordVersion.
func TestMessageRecordsAreGolden(t *testing.T) {
	var l listing
	l.line("version of records", messageRecordVersion)
	l.fields(ProcessRecord{})
	l.fields(PeerRecord{})
	l.fields(Producer{})
	l.fields(Consumer{})
	l.fields(EagerCredit{})
	l.fields(RequestRecords{})
	l.fields(SentRecord{})
	l.fields(CommRecord{})
	l.fields(ReceiveQueue{})
	l.fields(ReceiveRecord{})
	for _, f := range MessageRecordLayout() {
		l.line(f.Name, f.Value)
	}
	golden(t, "message_record.txt", l.String())
}

// Records are whole lines, and the parts of a PeerRecord for sends, for receives and for the credit are
// in a line each.
func TestMessageRecordsAreLines(t *testing.T) {
	var q PeerRecord
	for _, n := range []uintptr{unsafe.Sizeof(CommRecord{}), unsafe.Sizeof(ReceiveRecord{}), unsafe.Sizeof(ProcessRecord{}), unsafe.Offsetof(RequestRecords{}.Recent), unsafe.Offsetof(ReceiveQueue{}.Records)} {
		if n != Line {
			t.Errorf("a record, or the first part of one, has %d bytes", n)
		}
	}
	if r, s := (ReceiveQueue{}), (ReceiveRecord{}); unsafe.Offsetof(r.Next) != unsafe.Offsetof(s.Next) || unsafe.Offsetof(r.Prev) != unsafe.Offsetof(s.Prev) {
		t.Error("the links of the queue are not where they are in a record")
	}
	if unsafe.Sizeof(q) != PeerRecordSize || unsafe.Offsetof(q.In) != Line || unsafe.Offsetof(q.Credit) != 2*Line {
		t.Errorf("the record of a peer has %d bytes, receives begin at %d, the credit at %d", unsafe.Sizeof(q), unsafe.Offsetof(q.In), unsafe.Offsetof(q.Credit))
	}
}

// C takes the engine's lock by its first word, which is 1 while the lock is held, as long as nobody sleeps
// on it.
func TestTheLockIsAWord(t *testing.T) {
	var p ProcessRecord
	word := (*atomic.Uint32)(unsafe.Pointer(&p.Mutex))
	for range 3 {
		if p.Mutex.Lock(); word.Load() != 1 || p.Mutex.TryLock() {
			t.Fatalf("the word of a lock that is held is %d", word.Load())
		}
		if p.Mutex.Unlock(); word.Load() != 0 {
			t.Fatalf("the word of a free lock is %d", word.Load())
		}
		if !word.CompareAndSwap(0, 1) || p.Mutex.TryLock() {
			t.Fatal("a lock that C holds is free")
		}
		if word.Swap(0); !p.Mutex.TryLock() {
			t.Fatal("a lock that C has released is held")
		}
		p.Mutex.Unlock()
	}
}
