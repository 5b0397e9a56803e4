package shmfmt

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// The records of messages contain what the shortest sends and receives between processes of a node
// read and write, in Go (packages proc, fabric/shm, match and p2p) and in C (abi/lib). Both use the
// same record, which is the only copy of its content. In processes of the operating system the records
// are in memory of package offheap. Records of ranks that are goroutines are on the Go heap, as the rings
// that they point to are.
//
// The engine's lock guards all fields that are not atomic. C takes the lock only if it is free, and
// holds it without waiting for anything but the frame of a receive.
//
// A change of a layout needs a new messageRecordVersion.

// messageRecordVersion changes with the layout of the records, and with the meaning of their fields.
const messageRecordVersion = 4

// ProcessRecord is the part of the engine of a process that short messages use.
type ProcessRecord struct {
	// Mutex is the engine's lock. In processes whose callers are threads of C nobody sleeps on it: its
	// first word is 1 while it is held and 0 while it is free, so that C can take it. A thread that
	// finds it held sleeps until Freed changes; Asleep counts such threads. Asleep and the lock pair
	// with each other: a sleeper adds to Asleep and then tries the lock; an unlocker unlocks and then
	// loads Asleep.
	Mutex  sync.Mutex
	Freed  atomic.Uint32
	Asleep atomic.Int32
	Want   atomic.Int32 // goroutines and threads that wait for the lock; who polls gives it up
	Slow   uint32       // reasons why messages must not pass by the poller and the table: the bits below
	Looks  int32        // how many times a receive looks for the next frame before it calls the poller
	// LooksQuiet is how many times it looks in all while everything else is quiet: see WatchRecord.
	LooksQuiet int32
	Turns      uint64 // counts polls, and receives that look for the next frame
	// Activity counts the calls that poll, or look for the next frame.
	Activity uint64
	Sent     uint64          // requests of sends that C has made
	Requests *RequestRecords // nil if C makes none

	Watch WatchRecord
}

// WatchRecord is what code in C looks at to see that nothing has arrived but in the ring that a call waits for, and what the
// watchdog of package proc looks at: abi/lib/quiet.c and watch.c. The watchdog looks without the lock.
type WatchRecord struct {
	Polls uint64 // calls that have polled all fabrics
	// SeenActivity and SeenPolls are Activity and Polls when the watchdog looked last. Only the watchdog uses them.
	SeenActivity, SeenPolls uint64
	Stop                    atomic.Uint32 // not 0: a watchdog in C returns to Go
	// Elsewhere is not 0 if something may arrive of which the fields below tell nothing. Then nothing is ever quiet.
	Elsewhere atomic.Uint32
	// Senders are the bitmaps of the own segment: of the processes that have sent, and of those that have made offers, each of
	// Words words. It is nil where C must not use the rings.
	Senders unsafe.Pointer
	Losing  *atomic.Bool   // a process of the node has failed, and the engine has not been told
	Peers   unsafe.Pointer // PeerRecords of the processes of the node, by local index
	Words   uint32
	_       uint32
}

// RequestRecords are what C needs for requests.
type RequestRecords struct {
	// Receives and Unexpected are the queues of C. Both are nil before the first Irecv or unexpected message.
	Receives   *ReceiveQueue
	Unexpected *UnexpectedQueue
	Peers      unsafe.Pointer // PeerRecords of the processes of the node, by local index
	Armed      *atomic.Uint32 // of the own door
	_          [Line - 32]byte
	Recent     [SentMost]SentRecord // the last sends of C, by number
}

// The reasons in ProcessRecord.Slow. Any of them makes a receive use the poller and the table. A send
// uses the send queue if Queued is among them.
const (
	SlowInterrupt     = 1 << iota // interrupt mode: calls arm the fabrics
	SlowPolling                   // there is a poller
	SlowParked                    // waiters sleep
	SlowBusy                      // operations need the workers
	SlowQueued                    // frames are in send queues
	SlowTasks                     // user-callback tasks are queued
	SlowPosted                    // receives are posted
	SlowUnexpected                // messages are unexpected
	SlowPostedByC                 // receives are posted in the ReceiveQueue
	SlowUnexpectedByC             // messages are in the UnexpectedQueue

	SlowImport = SlowPostedByC | SlowUnexpectedByC // Go must import the queues of C
)

// PeerRecord is the way to and from another process through memory.
type PeerRecord struct {
	Out   Producer
	Armed *atomic.Uint32 // of the peer's door
	Open  uint32         // 1 if frames can be put into the ring: not before the first Send, nor after the peer has failed
	_     uint32

	In Consumer // zero before the first frame, and after the peer has failed
	// Waiting is 1 + In.head when the watchdog found a frame there last, 0 if it found none. Only the watchdog in C uses it.
	Waiting uint64
	_       [Line - 56]byte

	Credit EagerCredit
	_      [Line - 40]byte
}

// PeerRecordSize is the size of a PeerRecord in bytes: three lines.
const PeerRecordSize = 3 * Line

// EagerCredit is the eager credit between this process and another one: see package p2p.
type EagerCredit struct {
	Credit     int // bytes of eager messages that this process may send now
	EagerMax   int // longest eager message to the peer; -1 if it has failed
	Allowance  int // bytes of eager messages that the peer may still send: its credit less what is held here and CreditOwed
	CreditOwed int // bytes of eager messages that are consumed and whose credit is not returned yet

	Numbered uint64 // eager messages of requests so far: the sequence number of the last one
}

// SentRecord identifies a message that C has sent by MPI_Isend, so that the program can cancel the send
// although it is complete. The request is no object: its handle contains the number of the send.
type SentRecord struct {
	Ctx      uint64
	Sequence uint64 // among the eager messages to the peer: EagerCredit.Numbered
	Tag      int32
	Peer     int32  // local index
	Number   uint32 // of the send; the record is of another send if it differs
	_        uint32
}

const (
	// SentMost is how many of the last sends can be cancelled: a power of two. Others have been
	// complete for long.
	SentMost = 64
	// SentFirst and SentBits are the least number of a send, and the bits of the greatest.
	SentFirst = 256
	SentBits  = 27
)

// CommRecord is what C reads of a communicator to send and receive on it. Only AnyTag changes.
type CommRecord struct {
	Ctx     uint64         // context of messages
	Process *ProcessRecord // of this process
	Peers   unsafe.Pointer // PeerRecords of the processes of the node, by local index
	Armed   *atomic.Uint32 // of the own door
	Locals  unsafe.Pointer // local index of each member, as 32-bit numbers; -1 for other nodes and for this process
	AnyTag  atomic.Uint32  // 1 if receives with any tag are allowed
	_       [Line - 44]byte
}

// MessageRecordLayout returns the layouts of the records, for code in other languages.
func MessageRecordLayout() []Field {
	var p ProcessRecord
	var q PeerRecord
	var c CommRecord
	var r RequestRecords
	var s SentRecord
	var ring ringControl
	at := func(name string, offset uintptr) Field { return Field{name, int64(offset)} }
	out, in, credit, watch := unsafe.Offsetof(q.Out), unsafe.Offsetof(q.In), unsafe.Offsetof(q.Credit), unsafe.Offsetof(p.Watch)
	return append([]Field{
		{"MESSAGE_RECORD_VERSION", messageRecordVersion},
		at("PROCESS_LOCK", unsafe.Offsetof(p.Mutex)),
		at("PROCESS_FREED", unsafe.Offsetof(p.Freed)),
		at("PROCESS_ASLEEP", unsafe.Offsetof(p.Asleep)),
		at("PROCESS_WANT", unsafe.Offsetof(p.Want)),
		at("PROCESS_SLOW", unsafe.Offsetof(p.Slow)),
		at("PROCESS_LOOKS", unsafe.Offsetof(p.Looks)),
		at("PROCESS_LOOKS_QUIET", unsafe.Offsetof(p.LooksQuiet)),
		at("PROCESS_TURNS", unsafe.Offsetof(p.Turns)),
		at("PROCESS_ACTIVITY", unsafe.Offsetof(p.Activity)),
		at("PROCESS_SENT", unsafe.Offsetof(p.Sent)),
		at("PROCESS_REQUESTS", unsafe.Offsetof(p.Requests)),
		at("PROCESS_POLLS", watch+unsafe.Offsetof(p.Watch.Polls)),
		at("PROCESS_SEEN_ACTIVITY", watch+unsafe.Offsetof(p.Watch.SeenActivity)),
		at("PROCESS_SEEN_POLLS", watch+unsafe.Offsetof(p.Watch.SeenPolls)),
		at("PROCESS_STOP", watch+unsafe.Offsetof(p.Watch.Stop)),
		at("PROCESS_ELSEWHERE", watch+unsafe.Offsetof(p.Watch.Elsewhere)),
		at("PROCESS_SENDERS", watch+unsafe.Offsetof(p.Watch.Senders)),
		at("PROCESS_LOSING", watch+unsafe.Offsetof(p.Watch.Losing)),
		at("PROCESS_PEERS", watch+unsafe.Offsetof(p.Watch.Peers)),
		at("PROCESS_WORDS", watch+unsafe.Offsetof(p.Watch.Words)),
		{"SLOW_POLLING", SlowPolling},
		{"SLOW_QUEUED", SlowQueued},
		{"SLOW_POSTED", SlowPostedByC},
		{"SLOW_UNEXPECTED", SlowUnexpectedByC},
		{"SLOW_IMPORT", SlowImport},
		at("REQUESTS_RECEIVES", unsafe.Offsetof(r.Receives)),
		at("REQUESTS_UNEXPECTED", unsafe.Offsetof(r.Unexpected)),
		at("REQUESTS_PEERS", unsafe.Offsetof(r.Peers)),
		at("REQUESTS_ARMED", unsafe.Offsetof(r.Armed)),
		at("REQUESTS_RECENT", unsafe.Offsetof(r.Recent)),
		{"PEER_BYTES", PeerRecordSize},
		at("PEER_ARMED", unsafe.Offsetof(q.Armed)),
		at("PEER_OPEN", unsafe.Offsetof(q.Open)),
		at("PEER_OUT_CONTROL", out+unsafe.Offsetof(q.Out.ctl)),
		at("PEER_OUT_DATA", out+unsafe.Offsetof(q.Out.data)),
		at("PEER_OUT_TAIL", out+unsafe.Offsetof(q.Out.tail)),
		at("PEER_OUT_HEAD", out+unsafe.Offsetof(q.Out.head)),
		at("PEER_OUT_OWNED", out+unsafe.Offsetof(q.Out.owned)),
		at("PEER_OUT_ZERO", out+unsafe.Offsetof(q.Out.zero)),
		at("PEER_IN_CONTROL", in+unsafe.Offsetof(q.In.ctl)),
		at("PEER_IN_DATA", in+unsafe.Offsetof(q.In.data)),
		at("PEER_IN_HEAD", in+unsafe.Offsetof(q.In.head)),
		at("PEER_IN_TOLD", in+unsafe.Offsetof(q.In.told)),
		at("PEER_WAITING", unsafe.Offsetof(q.Waiting)),
		at("PEER_CREDIT", credit+unsafe.Offsetof(q.Credit.Credit)),
		at("PEER_EAGER_MAX", credit+unsafe.Offsetof(q.Credit.EagerMax)),
		at("PEER_ALLOWANCE", credit+unsafe.Offsetof(q.Credit.Allowance)),
		at("PEER_CREDIT_OWED", credit+unsafe.Offsetof(q.Credit.CreditOwed)),
		at("PEER_NUMBERED", credit+unsafe.Offsetof(q.Credit.Numbered)),
		at("SENT_BYTES", unsafe.Sizeof(s)),
		at("SENT_CTX", unsafe.Offsetof(s.Ctx)),
		at("SENT_SEQUENCE", unsafe.Offsetof(s.Sequence)),
		at("SENT_TAG", unsafe.Offsetof(s.Tag)),
		at("SENT_PEER", unsafe.Offsetof(s.Peer)),
		at("SENT_NUMBER", unsafe.Offsetof(s.Number)),
		{"SENT_MOST", SentMost},
		{"SENT_FIRST", SentFirst},
		{"SENT_BITS", SentBits},
		at("COMM_CTX", unsafe.Offsetof(c.Ctx)),
		at("COMM_PROCESS", unsafe.Offsetof(c.Process)),
		at("COMM_PEERS", unsafe.Offsetof(c.Peers)),
		at("COMM_ARMED", unsafe.Offsetof(c.Armed)),
		at("COMM_LOCALS", unsafe.Offsetof(c.Locals)),
		at("COMM_ANY_TAG", unsafe.Offsetof(c.AnyTag)),
		at("RING_HEAD", unsafe.Offsetof(ring.head)),
		at("RING_WAIT", unsafe.Offsetof(ring.wait)),
		{"RING_BYTES", RingBytes},
		{"RING_LINE", Line},
		{"RING_LAG", lag},
		{"RING_REACH", reach},
		{"RING_FETCH_MAX", fetchMax},
		{"RING_PAD", int64(kindPad)},
	}, append(receiveLayout(), unexpectedLayout()...)...)
}
