package wire

import (
	"encoding/binary"
	"fmt"
)

// Version is the version of the frame layout; it is exchanged in every handshake.
const Version = 12

const (
	// HeaderSize is the encoded size of a Header in bytes.
	HeaderSize = 40
	// MaxPayload is the largest payload of one frame in bytes: bounded so that
	// frames of several channels can be served in turn.
	MaxPayload = 64 << 10
)

// Kind says what a frame means to the layer that receives it.
type Kind uint8

// The kinds of frames. Zero is never sent.
const (
	// Eager carries a whole message: envelope (Ctx, Tag) and payload. Arg is the sequence number
	// of a message that may be revoked, 0 for others. The lowest byte of Aux is the code of the
	// elements (package dtype), 0 if there is none; the other bytes belong to collectives (package
	// p2p). The same holds for EagerSync and Ready.
	Eager Kind = 1 + iota
	// EagerSync is an Eager that asks for an Ack to request Name when it has matched.
	EagerSync
	// Ready announces a message of Arg bytes whose payload stays with the
	// sender's request Name until the receiver asks for it. The payload, if
	// any, is the fabric's description of the sender's memory.
	Ready
	// Clear asks the sender's request Name to send the first Ctx bytes of its payload, in
	// Data frames for request Arg.
	Clear
	// Data carries payload bytes at offset Arg for the receiver's request Name. With Unreadable it ends
	// the request.
	Data
	// Ack completes the sender's request Name.
	Ack
	// Credit returns Arg bytes of eager credit to the peer.
	Credit
	// Check contains the type of the message of the sender's next envelope; package p2p
	// defines its payload.
	Check
	// WinPut carries data for the window Ctx, to byte Arg of the receiver's memory, in
	// dynamic windows to address Arg. Tag is the number of runs in front of the data, which
	// describe the places of the data; 0 if these are contiguous. Package rma defines the
	// layout of a run. The same holds for WinGet and WinAcc. With ThenNotify the number of runs
	// is in the lower half of Tag, see Counter.
	WinPut
	// WinGet asks for the data at its runs, or without runs for as many bytes as the number in
	// its payload. The answers to Name are consecutive WinReply frames.
	WinGet
	// WinAcc carries data for an accumulate: Aux is its operation, the type of its elements,
	// and the floating-point environment to compute in. With WithResult a WinReply to Name
	// returns the previous values.
	WinAcc
	// WinCas carries the compare value and the new value of one element; Aux is its type. A
	// WinReply to Name returns the previous value.
	WinCas
	// WinReply carries data to request Name. The answer to a WinGet without runs may be several
	// frames, each with the data from byte Arg on; other answers are one frame.
	WinReply
	// WinFlush asks for a WinDone with the same Ctx and Arg when all earlier operations on
	// window Ctx are done.
	WinFlush
	// WinDone answers WinFlush, WinUnlock with Answer, and WinEpoch.
	WinDone
	// WinLock asks for a lock of window Ctx at the receiver: shared, or exclusive with
	// the flag Exclusive.
	WinLock
	// WinGrant grants a lock, or reports in Aux and Arg why the lock is not granted.
	WinGrant
	// WinUnlock releases a lock after all earlier operations on the window are done.
	WinUnlock
	// WinPost begins an exposure of window Ctx at the sender to the receiver.
	WinPost
	// WinComplete ends an access epoch of window Ctx by the sender, after all its earlier
	// operations on the window.
	WinComplete
	// WinNotify adds 1 to a counter of window Ctx at the receiver, after all earlier operations
	// on the window. Counter is the counter's number.
	WinNotify
	// WinSpan precedes the frames of an operation on the dynamic window Ctx that needs several
	// WinPut or WinAcc. It describes the memory of all of them, by runs or a number of bytes like
	// WinGet, so that the receiver refuses all frames if any memory is not attached.
	WinSpan
	// WinFault reports that the sender has refused the receiver's request Name, or if Name is 0
	// any operation that the receiver sent on window Ctx: Aux is the class of error, and the
	// payload contains numbers for the message.
	WinFault
	// WinCheck asks, in checking mode, whether the sender's next operation on window Ctx
	// conflicts with those of others, or reports the end of operations; with Answer it answers
	// the question Name. Package rma defines its payload.
	WinCheck
	// WinLeave says that the sender no longer uses window Ctx, which has been freed. A process
	// may free its memory when it has a WinLeave from all others.
	WinLeave
	// WinEpoch is a whole epoch with at most one operation: a WinLock of window Ctx, shared or
	// Exclusive; the frame of kind Tag, WinPut, WinGet, WinAcc or WinCas, with its Arg, Aux and
	// payload, without runs, or 0 for none; and a WinUnlock with Answer. If the lock is free, the
	// answer is a WinDone with Arg Name, which with the flag Fetches carries the fetched values.
	// Otherwise the receiver treats the frame as a WinLock only: the answer is a WinGrant, and
	// the sender sends the operation and the unlock in further frames.
	WinEpoch
	// Revoke asks the receiver to remove a message from its unexpected messages: the message
	// with Ctx, Tag and sequence number Arg, or with Announced the handle Arg of its request. A
	// Revoked to Name is the answer.
	Revoke
	// Revoked answers a Revoke: Arg is 1 if the message was unexpected and has been removed,
	// otherwise 0.
	Revoked
	// Assist asks the sender's request Name to copy pieces of the first Ctx bytes of its payload to
	// address Arg of the receiver's memory. Aux tells the uses of the pieces apart (shmfmt.Pieces).
	Assist
	// PartInit announces the send of a partitioned communication, request Name, with Ctx and Tag.
	// Arg is its length in bytes, Aux the code of its elements, and the payload the number of its
	// partitions. Package part defines the payloads of this and the next kinds.
	PartInit
	// PartMatch answers PartInit to Name: the receive Arg has matched. The payload says where its
	// memory is.
	PartMatch
	// PartStart says that the receive which has matched the send Name is started: Arg is the number
	// of times.
	PartStart
	// PartData carries ready partitions, or parts of them, to byte Arg of the receive Name.
	PartData
	// PartFail ends the send Name, or with ToReceive the receive Name, with an error of class Aux.
	// The payload is the text.
	PartFail
	// Leave says that the sender sends no more frames on this connection with a process of another
	// job. When both have said so, both close it; a later frame opens another one.
	Leave
	// User is for tests and layers without kinds of their own; package p2p refuses it.
	// It is the last kind: a new kind goes before it and needs a new Version.
	User
)

// Defined reports whether k is one of the kinds above. A frame of another kind ends the
// connection on which it arrives; 0 and 0xff have meanings of their own in rings.
func (k Kind) Defined() bool { return k-Eager <= User-Eager } // 0 wraps around

// Partitioned reports whether k is one of the kinds of partitioned communication.
func (k Kind) Partitioned() bool { return k-PartInit <= PartFail-PartInit }

// OneSided reports whether k is one of the kinds of one-sided communication.
func (k Kind) OneSided() bool { return k-WinPut <= WinEpoch-WinPut } // lower kinds wrap around

// Flags. Each is valid only for the kinds that its comment names.
const (
	// Uncredited, of EagerSync: the message was sent without eager credit, and none is
	// returned for it.
	Uncredited uint8 = 1
	// Announced, of Revoke: Arg is the handle of the message's request, not a sequence number.
	Announced uint8 = 1
	// Unreadable, of Data: the sender cannot read its memory from offset Arg on, and sends no more Data.
	Unreadable uint8 = 1
	// WithResult, of WinAcc: the sender wants the previous values.
	WithResult uint8 = 1
	// ThenFlush, of WinPut and of WinAcc without a result: the frame also stands for a
	// WinFlush with Arg Name that follows it. In the same way ThenUnlock stands for a
	// WinUnlock with Answer, and ThenComplete for a WinComplete.
	ThenFlush    uint8 = 2
	ThenUnlock   uint8 = 4
	ThenComplete uint8 = 8
	// ThenNotify, of WinPut, WinGet, WinAcc and WinCas: the frame also stands for a WinNotify
	// of the counter in the upper half of Tag, after its operation. If the operation is refused
	// the counter stays. Of several frames of an operation the last has ThenNotify, and the
	// others have Notifies.
	ThenNotify uint8 = 16
	Notifies   uint8 = 32
	// Acknowledge, of WinPut and of WinAcc without a result: the sender wants a WinReply without
	// data to Name when the operation is done, or a WinFault.
	Acknowledge uint8 = 64
	// Spanned, of WinPut and WinAcc: the frame belongs to the last WinSpan of its channel. Of
	// WinSpan: the frame continues the previous WinSpan.
	Spanned uint8 = 128
	// Fetches, of WinEpoch: the sender wants the data of a WinGet, or the previous values.
	Fetches uint8 = 2
	// Exclusive, of WinLock and WinEpoch: the lock is exclusive.
	Exclusive uint8 = 1
	// Answer, of WinUnlock: the sender wants a WinDone with Arg. Of WinCheck: it is the answer.
	Answer uint8 = 1
	// ToReceive, of PartFail: Name is a receive.
	ToReceive uint8 = 1
	// Faulty, of WinDone: an earlier operation was refused. Aux and payload are as in WinFault.
	Faulty uint8 = 1
)

// Header is the decoded fixed part of a frame.
type Header struct {
	Size  uint32 // payload bytes that follow in this frame
	Kind  Kind
	Flags uint8
	Chan  uint16 // frames are FIFO per (peer, channel); 0 is p2p and control
	Ctx   uint64
	Tag   int32
	Aux   uint32
	Arg   uint64
	Name  uint64
}

// SetCounter sets the number of a counter, in the upper half of Tag; the lower half is Runs.
func (h *Header) SetCounter(i int) { h.Tag = int32(uint32(i)<<16 | uint32(h.Tag)&0xffff) }

// Counter is the number of the counter in the upper half of Tag.
func (h *Header) Counter() int { return int(uint32(h.Tag) >> 16) }

// Runs is the number of runs in a frame with a counter: the lower half of Tag.
func (h *Header) Runs() int { return int(uint16(h.Tag)) }

// Word0 packs the first word.
func (h *Header) Word0() uint64 {
	return uint64(h.Size) | uint64(h.Kind)<<32 | uint64(h.Flags)<<40 | uint64(h.Chan)<<48
}

// SetWord0 unpacks the first word.
func (h *Header) SetWord0(w uint64) {
	h.Size, h.Kind, h.Flags, h.Chan = uint32(w), Kind(w>>32), uint8(w>>40), uint16(w>>48)
}

// Word2 packs the third word.
func (h *Header) Word2() uint64 { return uint64(uint32(h.Tag)) | uint64(h.Aux)<<32 }

// SetWord2 unpacks the third word.
func (h *Header) SetWord2(w uint64) { h.Tag, h.Aux = int32(uint32(w)), uint32(w>>32) }

// Encode writes h to b, which has at least HeaderSize bytes.
func (h *Header) Encode(b []byte) {
	_ = b[HeaderSize-1]
	le := binary.LittleEndian
	le.PutUint64(b, h.Word0())
	le.PutUint64(b[8:], h.Ctx)
	le.PutUint64(b[16:], h.Word2())
	le.PutUint64(b[24:], h.Arg)
	le.PutUint64(b[32:], h.Name)
}

// Decode reads h from b and calls Check. A frame that it refuses ends the connection on
// which the frame arrived.
func (h *Header) Decode(b []byte) error {
	if len(b) < HeaderSize {
		return fmt.Errorf("wire: header of %d bytes, want %d", len(b), HeaderSize)
	}
	le := binary.LittleEndian
	h.SetWord0(le.Uint64(b))
	h.Ctx = le.Uint64(b[8:])
	h.SetWord2(le.Uint64(b[16:]))
	h.Arg = le.Uint64(b[24:])
	h.Name = le.Uint64(b[32:])
	return h.Check()
}

// Check reports whether the header is one that a correct peer can have sent.
func (h *Header) Check() error {
	if !h.Kind.Defined() {
		return fmt.Errorf("wire: frame of kind %d, the last defined is %d", h.Kind, User)
	}
	if h.Size > MaxPayload {
		return fmt.Errorf("wire: frame of kind %d announces %d bytes, the limit is %d", h.Kind, h.Size, MaxPayload)
	}
	return nil
}
