package rendezvous

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halo-mpi/halo/internal/boot/engine"
	"github.com/halo-mpi/halo/internal/frame"
)

// A process first sends Join and gets Welcome or Refused. Each request after it has a number, which its
// answer repeats: answers come in any order. Frames are those of package frame.
//
//	Join     "HALO", version uint16, rank, size uint32         -> Welcome the name of the job | Refused text
//	Put      number uint32, name text, value text              -> Done
//	Get      number, rank uint32, 1 to wait uint8, name text   -> Done with the value
//	Fence    number                                            -> Done when all processes have sent it
//	Abort    code uint32, reason
//	Bye      empty; the process ends the connection
//
//	Done     number, result uint8 (see doneValue), value or reason
//	Leave    empty; the process that listens may end from now on
//	Over     code uint32, reason; a process has called Abort
const (
	kindJoin uint8 = 1 + iota
	kindPut
	kindGet
	kindFence
	kindAbort
	kindBye
)

const (
	kindWelcome uint8 = 64 + iota
	kindRefused
	kindDone
	kindLeave
	kindOver
)

// The results in a Done.
const (
	doneValue   uint8 = iota // with the value of a Get, or empty
	doneNothing              // there is no such value
	doneFailed               // with the reason
)

const (
	magic = "HALO"
	// version is the version of these frames. Join does not change in later versions.
	version = 1
	// frameMax bounds the length of frames.
	frameMax = 64 + engine.MaxKey + engine.MaxValue + frame.MaxText
	// waitsMax bounds the values for which one process waits at a time, with those that its Lookups have
	// given up.
	waitsMax = 1 << 12
	// keysMax bounds the number of Puts of one process.
	keysMax = 16
)

// done returns an answer.
func done(number uint32, result uint8, text string) []byte {
	return frame.New(kindDone).U32(number).U8(result).Rest(text).Bytes()
}

// ranksText returns the numbers of ranks for people, such as "1, 3-5".
func ranksText(ranks []int) string {
	slices.Sort(ranks)
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, fmt.Sprint(ranks[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}
