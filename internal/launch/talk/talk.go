//go:build unix

package talk

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/launch/wording"
)

// Launcher and agent exchange frames (package frame) over standard input and output of the
// agent, which ssh connects. The agent first sends Magic, which the launcher searches
// for, since shells may print text before it, and then a Hello. Hello and its framing must not
// change in later versions.
//
//	agent                                    launcher
//	Hello    version, versions of boot,
//	         build (may be missing)     ->
//	                                    <-   Plan     the share of the job
//	Ready    addresses, cores           ->
//	                                    <-   Reach    addresses of the other hosts
//	Reached  what could not be reached  ->
//	                                    <-   Start
//
// From then on the agent reports events (reporter) and the launcher sends requests. The
// last one is Finish, which the agent answers with Done when nothing of the job is left on
// its host. Either may send Trouble instead of the next step, and end. Both send Beats. At
// most StreamCredit bytes of a stream are sent that the receiver has not consumed, so that
// a stream that nobody reads delays nothing else.

// Kinds of frames from the agent.
const (
	KindHello uint8 = 1 + iota
	KindReady
	KindReached
	KindTrouble // status, text
	KindStarted
	KindFailed
	KindJoined
	KindExchanged
	KindFinalized
	KindAborted
	KindLinkEnded
	KindEnded
	KindOutput
	KindOutputEnd
	KindInputTaken
	KindShown
	KindDone
	KindOther // library; a rank is a program of another MPI
	KindInit  // after a session
	KindInUse
	KindPublished
	KindLookup
	KindName // verb, service, port
	KindWant // index of a program, offset: see package reach
	KindSpawn
	KindGiveUp
	KindLooked // an answer to KindLook: see lookFrame
)

// Kinds of frames to the agent.
const (
	KindPlan uint8 = 64 + iota
	KindReach
	KindStart
	KindSignal
	KindOver
	KindTable
	KindNoExchange // because a rank of another host has finalized
	KindInput
	KindInputEnd
	KindOutputTaken
	KindShow // what the ranks wait for
	KindFinish
	KindFound // an answer to KindLookup
	KindNamed // an answer to KindName
	KindPiece // an answer to KindWant
	KindSpawned
	KindLook // at the ranks, for -watch
)

// KindBeat goes both ways. It says how late the timer of the sender was, in milliseconds.
const KindBeat uint8 = 128

const (
	// Version is the version of the frames between launcher and agent.
	Version = 7
	// Magic marks the start of the agent's frames.
	Magic = "\x00halo-agent\x00\n"
	// bannerLimit is the greatest length in bytes of text before Magic.
	bannerLimit = 64 << 10

	// BeatInterval is the interval of heartbeats of either side.
	BeatInterval = 500 * time.Millisecond
	// Silence is how long nothing may arrive before the other side counts as lost, if timers of both sides are in
	// time. Together with the interval it is the bound of promise F4 after a cut cable.
	Silence = 2 * time.Second
	// lateFactor is how much later than a timer a heartbeat may be, as a multiple: launcher, ssh, sshd and agent need a
	// core one after the other, and memory that may have to be read from a disk.
	lateFactor = 20
	// lateMost bounds for how late a timer counts.
	lateMost = BeatInterval

	// StreamCredit is how many bytes of a stream may be sent and not consumed.
	StreamCredit = 64 << 10
	// piece is the largest number of bytes of a stream in one frame.
	piece = 16 << 10
)

// MaxFrame bounds frames to an agent, in bytes: the largest holds the values of
// all ranks.
const MaxFrame = boot.MaxRanks*(boot.MaxValue+2) + 1<<20

// How the link of a rank has ended.
const (
	LinkFine = iota
	LinkBroken
	LinkVersion // the rank was refused
)

// Stream names stdout or stderr of a rank.
type Stream struct{ Rank, Which int }

// Frame makes a frame of numbers followed by a text.
func Frame(kind uint8, text string, numbers ...int) []byte {
	w := frame.New(kind)
	for _, n := range numbers {
		w.U32(uint32(int32(n)))
	}
	return w.Rest(text).Bytes()
}

// Flag encodes a bool in a frame.
func Flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

// FindMagic reads up to the start of an agent's frames. banner is the text before it, or
// all text if it is missing; rest is what was read after it.
func FindMagic(from io.Reader) (banner string, rest []byte, err error) {
	var text []byte
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		text = append(text, b[:n]...)
		if at := bytes.Index(text, []byte(Magic)); at >= 0 {
			return string(text[:at]), text[at+len(Magic):], nil
		}
		if err == nil && len(text) > bannerLimit {
			err = fmt.Errorf("%d bytes without the greeting of a Halo agent: %q", len(text), wording.OneLine(string(text[:80])))
		}
		if err != nil {
			return string(text), nil, err
		}
	}
}
