// Package fabric is the contract between the engine and what moves bytes.
//
// A fabric carries frames (wire.Header and payload) between the processes of a
// job: reliably, and in order per (peer, channel). It knows nothing of
// messages, windows or collectives. Everything but active messages is an
// optional capability with a generic fallback in the layer above.
//
// All methods except Sleep and Wake are called with the engine's lock held, so
// a fabric needs no lock of its own for the data path; what it does in the
// background (accepting connections, handshakes) it hands over under its own
// lock at Poll. No method but Sleep and Close blocks.
//
// Peers are named by their index in the job.
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

	// Send offers one frame to peer `to`, which is not the process itself,
	// h.Size == len(payload), at most max(EagerMax, ChunkMax), whatever the
	// kind. It may be called inside Poll, by a method of the Sink. It reports
	// true when payload may be reused: the frame is on its way and will arrive
	// unless the peer dies. False means that there is no room now (or no
	// connection yet, or the frame went out in part): the caller must offer
	// the very same frame again, with the payload unchanged, before any other
	// to that peer. Sleep returns when it is worth trying again, also when that
	// was so before Arm. Frames to a peer that is Down are accepted and dropped.
	Send(to int, h *wire.Header, payload []byte) bool

	// Poll delivers frames that have arrived, at most a bounded number, and
	// reports how much it did (0: nothing). hint is the peer whose frame is
	// awaited most, or -1: a fabric may look there first, or only there in
	// most turns.
	Poll(s Sink, hint int) int

	// Arm promises that from now on Sleep returns once a frame arrives. The
	// caller polls once more after Arm, since frames may have arrived before,
	// and sleeps only if that Poll did nothing. The promise is good for one
	// return of Sleep: who sleeps again for frames arms again.
	Arm()

	// Disarm takes the promise back, so that senders need not wake anyone: a
	// poller is at work, or will look again soon.
	Disarm()

	// Sleep blocks until Wake; when armed also until a frame may have arrived or
	// a refused Send may succeed. It may return early. One goroutine at a time
	// calls it, without the engine's lock; others may Poll, Arm and Disarm meanwhile.
	Sleep()

	// Wake makes Sleep return, now or at its next call. Callable from any goroutine.
	Wake()

	// Close releases everything. Frames accepted by Send have left the process
	// before Close ends, as far as the peer takes them within a bounded time.
	// Peers learn of the end by Down if the fabric can tell, else from whoever
	// watches processes. Sleep returns for good; Wake remains harmless.
	Close() error
}

// Sink takes what a fabric delivers. Its methods are called inside Poll.
type Sink interface {
	// Frame takes a whole frame. h and payload are valid during the call only.
	Frame(from int, h *wire.Header, payload []byte)

	// Place is asked, when only the header of a frame (and perhaps the start of
	// its payload) has arrived, where the payload shall go: a slice of h.Size
	// bytes that stays valid until Placed or Down, or nil when the fabric
	// shall gather it itself and call Frame. It is called at most once for a frame. h is valid during the call only.
	Place(from int, h *wire.Header) []byte

	// Placed says that the payload of the frame that Place was last asked about
	// for this peer is complete.
	Placed(from int, h *wire.Header)

	// Down says that peer can no longer be reached, once. Nothing from it follows.
	Down(peer int, cause error)
}

// RunSlices is how many slices a run may have: enough that short ones are better packed.
const RunSlices = 64

// Runner is the capability to take several frames of one long message at once.
type Runner interface {
	// SendRun offers frames that follow each other: the slices of payload, none of them
	// empty and at most RunSlices, one after the other in pieces of ChunkMax, the last being what is
	// left. h is the header of the first but for Size; each next has its Arg greater
	// by the size before. It reports how many bytes of whole frames were taken, as by
	// Send. If that is not all, the next frame must be offered by Send, as if that
	// had refused it.
	SendRun(to int, h *wire.Header, payload [][]byte) int
}

// Reader is the capability to read a peer's memory without its help.
type Reader interface {
	// CanRead reports whether Read works for this peer (probed once).
	CanRead(peer int) bool
	// Read fills the slices of dst one after the other with the bytes from address
	// addr of the peer on. The address is never used as a pointer here: the kernel
	// checks it in the peer's space.
	Read(peer int, dst [][]byte, addr uint64) error
}

// Writer is the capability to write a peer's memory without its help.
type Writer interface {
	// CanWrite reports whether Write works for this peer (probed once).
	CanWrite(peer int) bool
	// Write copies the slices of src, which it uses up, one after the other to address
	// addr of the peer and on. As in Reader, the address is the kernel's to check.
	Write(peer int, src [][]byte, addr uint64) error
}
