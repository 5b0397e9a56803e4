package shmfmt

import (
	"iter"
	"unsafe"
)

// ReceiveQueue contains the receives that C has started and that the program has not completed yet. C
// posts receives while Go's tables of posted receives and of unexpected messages are empty, and matches
// the frames of the rings with them in the order of the posts. Whoever takes the engine's lock in Go first
// imports all posted receives into the table. So the posted receives are either all here or all in Go's
// table. The code of C is in abi/lib, and the import is in package p2p. SlowPostedByC is set unless the
// list is empty.
//
// A receive is a record. The handle of its request contains the number of the record, so the handle
// stays the same when the receive is imported. The engine's lock guards all fields.
type ReceiveQueue struct {
	QueueHead                                 // lists the posted receives
	Records   [ReceivesMost - 1]ReceiveRecord // from 1 on
}

// QueueHead is the head of a queue that C fills. Some of the records in use are in a list, in the order in
// which they have been appended to it.
type QueueHead struct {
	Free   uint32 // first record of the list of those that were freed, linked by Next; 0 if there is none
	High   uint32 // records from here on have not been used since all were free; at least 1
	Used   uint32 // records in use
	Listed uint32 // records in the list
	_      [28]byte
	// Next and Prev are the oldest and the youngest record of the list. They are where they would be in
	// record 0, so that the list needs no special cases.
	Next, Prev uint32
	_          [Line - 52]byte
}

// ReceiveRecord is one receive.
type ReceiveRecord struct {
	Ctx    uint64         // context
	Word   uint64         // local index of the source, and tag in the lower half
	Mask   uint64         // ones for the parts of Word that a message must equal
	Buffer unsafe.Pointer // of the program
	Room   uint32         // bytes of the buffer
	Number uint32         // of the request: the index of the record, and above that how often it was used
	State  uint16         // one of the constants below
	Code   uint8          // dtype.Code of the elements
	Next   uint32         // next record in the list of posted receives, or in that of free records
	Prev   uint32         // record before it in the list of posted receives
	Source int32          // rank in the communicator
	Tag    int32          // tag of the receive; once complete, tag of the message
	Bytes  uint32         // of the message, once complete
}

// The states of a ReceiveRecord.
const (
	ReceiveFree     = iota // no request has it
	ReceivePosted          // in the list of posted receives
	ReceiveComplete        // C has received the message, and the program has not completed the request
	ReceiveImported        // Go has a request for it
)

const (
	// ReceivesMost is 1 + the number of records: a power of two.
	ReceivesMost = 256
	// ReceiveBits is how many bits the greatest Number has.
	ReceiveBits = SentBits
)

// Init makes a zero queue usable.
func (q *ReceiveQueue) Init() { q.High = 1 }

// Find returns the record of the request with a number, nil if the request has ended.
func (q *ReceiveQueue) Find(number uint32) *ReceiveRecord {
	if i := number % ReceivesMost; i != 0 {
		if r := q.At(i); r.Number == number && r.State != ReceiveFree {
			return r
		}
	}
	return nil
}

// At returns record i, from 1 on.
func (q *ReceiveQueue) At(i uint32) *ReceiveRecord { return &q.Records[i-1] }

// All yields the posted receives, oldest first.
func (q *ReceiveQueue) All() iter.Seq[*ReceiveRecord] {
	return func(yield func(*ReceiveRecord) bool) {
		for i := q.Next; i != 0; i = q.At(i).Next {
			if !yield(q.At(i)) {
				return
			}
		}
	}
}

// Imported empties the list of posted receives, whose states become ReceiveImported.
func (q *ReceiveQueue) Imported() {
	for r := range q.All() {
		r.State = ReceiveImported
	}
	q.Listed, q.Next, q.Prev = 0, 0, 0
}

// Release frees a record that is not posted.
func (q *ReceiveQueue) Release(r *ReceiveRecord) {
	r.State = ReceiveFree
	q.Used--
	if q.Used == 0 {
		q.Free, q.High = 0, 1 // so that records are used in order, and only as many as are in use at a time
		return
	}
	r.Next, q.Free = q.Free, r.Number%ReceivesMost
}

// receiveLayout returns the layout of the queue.
func receiveLayout() []Field {
	var q ReceiveQueue
	var r ReceiveRecord
	at := func(name string, offset uintptr) Field { return Field{name, int64(offset)} }
	return []Field{
		at("QUEUE_FREE", unsafe.Offsetof(q.Free)),
		at("QUEUE_HIGH", unsafe.Offsetof(q.High)),
		at("QUEUE_USED", unsafe.Offsetof(q.Used)),
		at("QUEUE_LISTED", unsafe.Offsetof(q.Listed)),
		at("RECORD_CTX", unsafe.Offsetof(r.Ctx)),
		at("RECORD_WORD", unsafe.Offsetof(r.Word)),
		at("RECORD_NEXT", unsafe.Offsetof(r.Next)),
		at("RECORD_PREV", unsafe.Offsetof(r.Prev)),
		{"RECEIVES_MOST", ReceivesMost},
		{"RECEIVE_BITS", ReceiveBits},
		at("RECEIVE_BYTES", unsafe.Sizeof(r)),
		at("RECEIVE_MASK", unsafe.Offsetof(r.Mask)),
		at("RECEIVE_BUFFER", unsafe.Offsetof(r.Buffer)),
		at("RECEIVE_ROOM", unsafe.Offsetof(r.Room)),
		at("RECEIVE_NUMBER", unsafe.Offsetof(r.Number)),
		at("RECEIVE_STATE", unsafe.Offsetof(r.State)),
		at("RECEIVE_CODE", unsafe.Offsetof(r.Code)),
		at("RECEIVE_SOURCE", unsafe.Offsetof(r.Source)),
		at("RECEIVE_TAG", unsafe.Offsetof(r.Tag)),
		at("RECEIVE_RECEIVED", unsafe.Offsetof(r.Bytes)),
		{"RECEIVE_FREE", ReceiveFree},
		{"RECEIVE_POSTED", ReceivePosted},
		{"RECEIVE_COMPLETE", ReceiveComplete},
		{"RECEIVE_IMPORTED", ReceiveImported},
	}
}
