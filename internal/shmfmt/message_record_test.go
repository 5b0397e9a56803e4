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
	l.fields(WatchRecord{})
	l.fields(PeerRecord{})
	l.fields(Producer{})
	l.fields(Consumer{})
	l.fields(EagerCredit{})
	l.fields(RequestRecords{})
	l.fields(SentRecord{})
	l.fields(CommRecord{})
	l.fields(QueueHead{})
	l.fields(ReceiveQueue{})
	l.fields(ReceiveRecord{})
	l.fields(UnexpectedQueue{})
	l.fields(UnexpectedRecord{})
	for _, f := range MessageRecordLayout() {
		l.line(f.Name, f.Value)
	}
	golden(t, "message_record.txt", l.String())
}

// Records are whole lines, and the parts of a PeerRecord for sends, for receives and for the credit are
// in a line each.
func TestMessageRecordsAreLines(t *testing.T) {
	var q PeerRecord
	for _, n := range []uintptr{unsafe.Sizeof(CommRecord{}), unsafe.Sizeof(ReceiveRecord{}), unsafe.Offsetof(ProcessRecord{}.Watch), unsafe.Sizeof(WatchRecord{}), unsafe.Offsetof(RequestRecords{}.Recent), unsafe.Offsetof(ReceiveQueue{}.Records)} {
		if n != Line {
			t.Errorf("a record, or the first part of one, has %d bytes", n)
		}
	}
	var h QueueHead
	var r ReceiveRecord
	var m UnexpectedRecord
	if unsafe.Offsetof(h.Next) != unsafe.Offsetof(r.Next) || unsafe.Offsetof(h.Prev) != unsafe.Offsetof(r.Prev) {
		t.Error("the links of a queue are not where they are in a record")
	}
	if unsafe.Offsetof(m.Next) != unsafe.Offsetof(r.Next) || unsafe.Offsetof(m.Prev) != unsafe.Offsetof(r.Prev) ||
		unsafe.Offsetof(m.Ctx) != unsafe.Offsetof(r.Ctx) || unsafe.Offsetof(m.Word) != unsafe.Offsetof(r.Word) {
		t.Error("records of the two queues have envelope and links at different offsets")
	}
	if unsafe.Sizeof(m) != UnexpectedSize || unsafe.Offsetof(UnexpectedQueue{}.Records) != UnexpectedSize {
		t.Errorf("the record of a message has %d bytes, the first is at %d", unsafe.Sizeof(m), unsafe.Offsetof(UnexpectedQueue{}.Records))
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
		p.Mutex.Lock()
		if word.Load() != 1 || p.Mutex.TryLock() {
			t.Fatalf("the word of a lock that is held is %d", word.Load())
		}
		p.Mutex.Unlock()
		if word.Load() != 0 {
			t.Fatalf("the word of a free lock is %d", word.Load())
		}
		if !word.CompareAndSwap(0, 1) || p.Mutex.TryLock() {
			t.Fatal("a lock that C holds is free")
		}
		word.Swap(0)
		if !p.Mutex.TryLock() {
			t.Fatal("a lock that C has released is held")
		}
		p.Mutex.Unlock()
	}
}
