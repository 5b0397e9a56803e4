// Package fabric is the contract between the engine and the transports.
//
// A fabric carries frames (wire.Header and payload) between the processes of a
// job: reliably, and in order per (peer, channel). It knows nothing of
// messages, windows or collectives. Everything but frames is an optional capability
// with a generic fallback in the layer above.
//
// The caller of every method except Sleep and Wake holds the engine's lock, so a
// fabric needs no lock of its own for the data path. Poll takes over the results of
// background work (accepted connections, handshakes) under the fabric's own lock. No
// method but Sleep and Close blocks.
//
// A peer is identified by its index in the job.
package fabric

import (
	"errors"

	"github.com/halo-mpi/halo/internal/wire"
)

// ErrUnsupported says that this machine or build has no such fabric or capability.
var ErrUnsupported = errors.New("not supported on this machine")

// Fabric moves frames.
type Fabric interface {
	// Name is "shm", "tcp" or "inproc".
	Name() string

	// EagerMax is the largest payload in bytes that the fabric wants in one
	// Eager frame; longer messages are announced first. At most wire.MaxPayload.
	EagerMax() int

	// ChunkMax is the payload in bytes of one Data frame of a long message.
	ChunkMax() int

	// Send tries to send one frame to peer `to`, which is not the process itself.
	// h.Size is len(payload), which is at most max(EagerMax, ChunkMax) for every
	// kind. A method of the Sink may call Send inside Poll. True means that the
	// frame is accepted: payload may be reused, and the frame arrives unless the
	// peer fails. False means that the frame is refused: there is no room now, or no
	// connection yet, or only a part of the frame is sent. Then the next Send to this
	// peer must be of the same frame, with the payload unchanged. Sleep returns when
	// that Send may succeed, even if that was so before Arm. Frames to a peer that is
	// Down are accepted and dropped.
	Send(to int, h *wire.Header, payload []byte) bool

	// Poll delivers a bounded number of frames that have arrived, and reports how
	// much it did (0: nothing). hint is the peer whose frame the caller expects, or
	// -1: a fabric may poll that peer first, or most times only that peer.
	Poll(s Sink, hint int) int

	// Arm makes Sleep return once a frame arrives. Frames may have arrived before,
	// so the caller polls once more after Arm, and sleeps only if that Poll did
	// nothing. Arm is valid for one return of Sleep.
	Arm()

	// Disarm undoes Arm, so that senders need not wake anyone: a goroutine polls, or
	// polls again soon.
	Disarm()

	// Sleep blocks until Wake; when armed also until a frame may have arrived or
	// a refused Send may succeed. It may return early. One goroutine at a time
	// calls it, without the engine's lock; others may call Poll, Arm and Disarm
	// meanwhile.
	Sleep()

	// Wake makes Sleep return, now or at its next call. Callable from any goroutine.
	Wake()

	// Close releases everything. Frames accepted by Send have left the process
	// before Close returns, as far as the peer takes them within a bounded time.
	// Peers get Down if the fabric can detect the end, otherwise from the process
	// that watches processes. Sleep returns at once from then on, and Wake remains
	// harmless.
	Close() error
}

// Sink receives what a fabric delivers. Its methods are called inside Poll.
type Sink interface {
	// Frame receives a whole frame. h and payload are valid during the call only.
	Frame(from int, h *wire.Header, payload []byte)

	// Place is called, at most once for a frame, when only the header and perhaps
	// the start of the payload have arrived. It returns where the payload goes: a
	// slice of h.Size bytes that stays valid until Placed or Down. If it returns nil,
	// the fabric gathers the payload itself and calls Frame. h is valid during the
	// call only.
	Place(from int, h *wire.Header) []byte

	// Placed is called when the payload of the frame of the last Place for this peer
	// is complete.
	Placed(from int, h *wire.Header)

	// Down is called once when peer can no longer be reached. No frame from it follows.
	Down(peer int, cause error)
}

// RunSlices is how many slices a run may have. With more slices packing is faster.
const RunSlices = 64

// Runner is the capability to send several frames of one long message at once.
type Runner interface {
	// SendRun tries to send the slices of payload as consecutive frames of ChunkMax bytes,
	// the last with the rest. There are at most RunSlices slices, and none is empty. h is
	// the header of the first frame except for Size; Arg of each next frame is greater by
	// the size of the one before. SendRun reports how many bytes of whole frames are
	// accepted. If that is not all, the next frame counts as refused by Send.
	SendRun(to int, h *wire.Header, payload [][]byte) int
}

// Holder is the capability to hold short frames, so that one system call sends several of them.
type Holder interface {
	// Hold accepts a frame as Send does, but may leave it in the process until Release, or until the
	// next Send to the same peer. Frames that are held leave at the latest in Arm or Close. False means
	// that the frame is not accepted: the caller calls Send, for this frame or another one.
	Hold(to int, h *wire.Header, payload []byte) bool
	// Release sends the frames to a peer that are held.
	Release(to int)
}

// Reader is the capability to read a peer's memory without its help.
type Reader interface {
	// CanRead reports whether Read works for this peer (probed once).
	CanRead(peer int) bool
	// Read fills the slices of dst one after the other with the bytes of the peer's
	// memory from address addr. This process never uses the address as a pointer: the
	// kernel checks it in the peer's address space.
	Read(peer int, dst [][]byte, addr uint64) error
}

// Writer is the capability to write a peer's memory without its help.
type Writer interface {
	// CanWrite reports whether Write works for this peer (probed once).
	CanWrite(peer int) bool
	// Write copies the slices of src one after the other to the peer's memory from address
	// addr, and changes src. As with Read, the kernel checks the address.
	Write(peer int, src [][]byte, addr uint64) error
}
