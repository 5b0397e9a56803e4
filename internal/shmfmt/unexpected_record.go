package shmfmt

import (
	"iter"
	"unsafe"
)

// UnexpectedQueue contains short messages that C has taken from the rings before a receive for them was
// posted, in the order of arrival. C uses it under the same conditions as the ReceiveQueue, and Go imports it
// at the same time. No receive of the ReceiveQueue matches a message here. SlowUnexpectedByC is set unless the queue is
// empty. The engine's lock guards all fields.
type UnexpectedQueue struct {
	QueueHead // lists all records in use
	_         [UnexpectedSize - Line]byte
	Records   [UnexpectedMost - 1]UnexpectedRecord // from 1 on
}

// UnexpectedRecord is one message. It contains what Go needs of the header of an eager frame.
type UnexpectedRecord struct {
	Ctx  uint64 // context
	Word uint64 // local index of the source, and tag in the lower half
	Arg  uint64 // sequence number of a message that may be revoked
	Aux  uint32
	Size uint32 // bytes of the message
	_    [12]byte
	Next uint32 // of the messages, or of the free records
	Prev uint32
	_    uint32
	Data [UnexpectedData]byte
}

const (
	// UnexpectedMost is 1 + the number of records. So few are searched in less time than a call of Go takes.
	UnexpectedMost = 64
	// UnexpectedSize is the size of a record in bytes: two lines.
	UnexpectedSize = 2 * Line
	// UnexpectedData is the longest message of the queue in bytes.
	UnexpectedData = UnexpectedSize - 56
)

// Init makes a zero queue usable.
func (q *UnexpectedQueue) Init() { q.High = 1 }

// At returns record i, from 1 on.
func (q *UnexpectedQueue) At(i uint32) *UnexpectedRecord { return &q.Records[i-1] }

// All yields the messages, oldest first.
func (q *UnexpectedQueue) All() iter.Seq[*UnexpectedRecord] {
	return func(yield func(*UnexpectedRecord) bool) {
		for i := q.Next; i != 0; i = q.At(i).Next {
			if !yield(q.At(i)) {
				return
			}
		}
	}
}

// Imported empties the queue.
func (q *UnexpectedQueue) Imported() {
	q.QueueHead = QueueHead{}
	q.Init()
}

// unexpectedLayout returns the layout of the queue, whose head and links are those of a ReceiveQueue.
func unexpectedLayout() []Field {
	var m UnexpectedRecord
	at := func(name string, offset uintptr) Field { return Field{name, int64(offset)} }
	return []Field{
		{"UNEXPECTED_MOST", UnexpectedMost},
		{"UNEXPECTED_BYTES", UnexpectedSize},
		{"UNEXPECTED_MAX", UnexpectedData},
		at("UNEXPECTED_ARG", unsafe.Offsetof(m.Arg)),
		at("UNEXPECTED_AUX", unsafe.Offsetof(m.Aux)),
		at("UNEXPECTED_SIZE", unsafe.Offsetof(m.Size)),
		at("UNEXPECTED_DATA", unsafe.Offsetof(m.Data)),
	}
}
