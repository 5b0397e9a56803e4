// Package wire defines the frame every fabric carries: a fixed header of 40
// bytes followed by at most MaxPayload bytes. Shared-memory rings and TCP streams contain
// the same five little-endian words, so that one decoder, one fuzz target and one golden
// file cover both.
//
//	word 0   size uint32 | kind uint8 | flags uint8 | channel uint16
//	word 1   ctx  uint64   context id of a communicator
//	word 2   tag  int32  | aux uint32
//	word 3   arg  uint64   total length of a message, or offset of a chunk
//	word 4   name uint64   handle of a request of sender or receiver (never a pointer)
//
// Word 0 is never zero in a valid frame, because kind is not: a ring publishes
// a frame by storing word 0 last.
package wire

import (
	"encoding/binary"
	"fmt"
)

// Version is the version of the frame layout; it is exchanged in every handshake.
const Version = 8

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
	// EagerSync is Eager that wants an Ack to request Name once it is matched.
	EagerSync
	// Ready announces a message of Arg bytes whose payload stays with the
	// sender's request Name until the receiver asks for it. The payload, if
	// any, is the fabric's description of the sender's memory.
	Ready
	// Clear asks the sender's request Name to send the first Ctx bytes of its payload, in
	// Data frames for request Arg.
	Clear
	// Data carries payload bytes at offset Arg for the receiver's request Name.
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
	// say where the data go; 0 if they are contiguous. Package rma defines the layout of a
	// run. The same holds for WinGet and WinAcc. With ThenNotify the number is in the lower
	// half of Tag, see Counter.
	WinPut
	// WinGet asks for the data of its runs, or for the number of bytes in its payload. The
	// answers to Name are consecutive WinReply frames.
	WinGet
	// WinAcc carries data for an accumulate: Aux is its operation, the type of its elements,
	// and the floating-point environment to compute in. With WithResult a WinReply to Name
	// returns the previous values.
	WinAcc
	// WinCas carries the compare value and the new value of one element; Aux is its type. A
	// WinReply to Name returns the previous value.
	WinCas
	// WinReply carries data to request Name, in one frame. For a WinGet without runs it may
	// be several, each from byte Arg.
	WinReply
	// WinFlush asks for a WinDone with the same Ctx and Arg when all earlier operations on
	// window Ctx are done.
	WinFlush
	// WinDone answers WinFlush, WinUnlock with Answer, and WinEpoch.
	WinDone
	// WinLock asks for a lock of window Ctx at the receiver: shared, or exclusive with
	// the flag Exclusive.
	WinLock
	// WinGrant grants a lock; or says, in Aux and Arg, why it is not granted.
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
	// WinPut or WinAcc. It contains where all their data go, by runs or a number of bytes like
	// WinGet, so that all frames are refused if any memory is missing.
	WinSpan
	// WinFault says that the receiver's request Name, or any operation that it sent on window
	// Ctx if Name is 0, was refused: Aux is the class of error, and the payload contains numbers
	// for the message.
	WinFault
	// WinCheck asks, in checking mode, whether the sender's next operation on window Ctx
	// conflicts with those of others, or reports the end of operations; with Answer it answers
	// the question Name. Package rma defines its payload.
	WinCheck
	// WinLeave says that the sender does not use window Ctx any more, which has been freed: the
	// memory of the others may be freed when all have said so.
	WinLeave
	// WinEpoch is a whole epoch with one operation at most: a WinLock of window Ctx, shared or
	// Exclusive; the frame of kind Tag, WinPut, WinGet, WinAcc or WinCas, with its Arg, Aux and
	// payload, without runs, or 0 for none; and a WinUnlock with Answer. If the lock is free the
	// answer is a WinDone with Arg Name, which carries the values before if the flag Fetches
	// wants them. Else the frame counts as the WinLock alone: the answer is a WinGrant, and the
	// sender sends the rest again.
	WinEpoch
	// Revoke asks the receiver to remove a message from its unexpected messages: the message
	// with Ctx, Tag and sequence number Arg, or with Announced the handle Arg of its request. A
	// Revoked to Name is the answer.
	Revoke
	// Revoked answers a Revoke: Arg is 1 if the message was unexpected and has been removed,
	// otherwise 0.
	Revoked
	// User is for layers that have no kinds of their own; p2p accepts none.
	// It is the last kind: a new one goes before it, and makes a new Version.
	User
)

// Defined reports whether k is one of the kinds above. Others end the connection
// that they came by; 0 and 0xff have meanings of their own in rings.
func (k Kind) Defined() bool { return k-Eager <= User-Eager } // 0 wraps around

// OneSided reports whether k is one of the kinds of one-sided communication.
func (k Kind) OneSided() bool { return k-WinPut <= WinEpoch-WinPut } // what is below wraps around

// Flags, each of the kinds that it names.
const (
	// Uncredited, of EagerSync: the message was sent without eager credit, and none is
	// returned for it.
	Uncredited uint8 = 1
	// Announced, of Revoke: the message has a name, not a number.
	Announced uint8 = 1
	// WithResult, of WinAcc: the values before are wanted.
	WithResult uint8 = 1
	// ThenFlush, of WinPut and of WinAcc without a result: a WinFlush with Arg Name
	// follows, and saves its frame. ThenUnlock and ThenComplete are the same of WinUnlock
	// with Answer, and of WinComplete.
	ThenFlush    uint8 = 2
	ThenUnlock   uint8 = 4
	ThenComplete uint8 = 8
	// ThenNotify, of WinPut, WinGet, WinAcc and WinCas: a WinNotify follows, of the counter
	// in the upper half of Tag, once what the frame wants is done; if it is refused, none.
	// Of an operation in several frames it is the last one's, and the others have Notifies.
	ThenNotify uint8 = 16
	Notifies   uint8 = 32
	// Acknowledge, of WinPut and of WinAcc without a result: a WinReply without data to Name is
	// wanted once it is done, or a WinFault.
	Acknowledge uint8 = 64
	// Spanned, of WinPut and WinAcc: they belong to the last WinSpan of their channel. Of
	// WinSpan: it goes on with the one before.
	Spanned uint8 = 128
	// Fetches, of WinEpoch: the values before are wanted.
	Fetches uint8 = 2
	// Exclusive, of WinLock and WinEpoch: nobody else may have the lock.
	Exclusive uint8 = 1
	// Answer, of WinUnlock: a WinDone with Arg is wanted. Of WinCheck: this is the answer.
	Answer uint8 = 1
	// Faulty, of WinDone: something before was refused. Aux and payload are those of WinFault.
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

// SetCounter names a counter, in the upper half of Tag. Runs are in the lower one.
func (h *Header) SetCounter(i int) { h.Tag = int32(uint32(i)<<16 | uint32(h.Tag)&0xffff) }

// Counter is what SetCounter has named.
func (h *Header) Counter() int { return int(uint32(h.Tag) >> 16) }

// Runs is the lower half of Tag where that names a counter, too.
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

// Decode reads h from b and checks what can be checked without context. A frame
// that does not pass ends the connection it came by.
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
