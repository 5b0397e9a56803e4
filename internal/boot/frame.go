package boot

import (
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// Launcher and program send frames:
//
//	length uint32 | kind uint8 | body of length-1 bytes
//
// with all numbers little-endian. The program sends first. All requests except Ring,
// Finalize, Init, InUse, Publish, Abort and GiveUp have an answer:
//
//	Hello      "HALO", protocol, wire and segment version uint16 each, -> Welcome | Refused
//	           build text, language uint8 (both may be missing),
//	           1 if the process calls Init of the world model uint8 (else it opens a session)
//	Exchange   at most MaxValue bytes                                  -> Table | Failed
//	Segment    rank int32 (-1 control, -2 notes, -3-rank its bell)     -> Descriptor | Failed
//	Ring       rank int32, which the launcher wakes by its bell
//	Finalize   empty; the process enters no Exchange any more, and its end is no failure
//	Init       empty; a process that has opened a session calls Init of the world model
//	InUse      uint8: 1 if the process uses MPI (again), 0 if its end is no failure from now on
//	Publish    at most MaxValue bytes, for Lookup
//	Lookup     rank uint32                                             -> Found
//	Abort      code int32, reason
//	Spawn      a new job: see spawn.go                                 -> Spawned, in any order
//	GiveUp     number of a Spawn uint32, for which nobody waits any more
//
// If a process serves its node, instead of a launcher, others connect to its socket, and tell first who
// they are:
//
//	Give       number of a segment int32 as in Segment, with its descriptor attached: what this
//	           process has from the one that served the node before
//	Join       rank uint32, 1 if the process uses MPI uint8; a Hello follows
//
// Frames to the program, answers and others:
//
//	Welcome    the Job (see job.go)          Refused    text, then the launcher closes
//	Table      per rank: length uint16, bytes
//	Descriptor rank int32, with the descriptor attached to its first byte
//	Failed     kind uint8 of the request, 1 if unsupported uint8, text
//	Found      rank uint32, 1 and what it has published, or 0 and why it publishes nothing;
//	           sent when that is known, in any order
//	Over       text: the job has ended; sent at any time, nothing follows
//	Leave      1 if the process that serves the node may end from now on, 0 if not, uint8,
//	           and the other ranks that are connected, uint32 each; sent at any time
//
// The end of the stream means that the other side has ended.

// Kinds of frames to the launcher.
const (
	kindHello uint8 = 1 + iota
	kindExchange
	kindSegment
	kindFinalize
	kindAbort
	kindRing
	kindInit
	kindInUse
	kindPublish
	kindLookup
	kindJoin
	kindGive
	kindSpawn
	kindGiveUp
)

// Kinds of frames to the program.
const (
	kindWelcome uint8 = 64 + iota
	kindRefused
	kindTable
	kindDescriptor
	kindFailed
	kindOver
	kindFound
	kindLeave
	kindSpawned
)

const (
	// The second byte of Failed.
	failedOther       byte = 0
	failedUnsupported byte = 1 // this node has no such memory
)

const (
	// maxRequest bounds the length of frames before a process has joined.
	maxRequest = 1100
	// maxReply bounds the length of frames to a program that does not know the job's size
	// yet: a Welcome with the greatest number of hosts, and of runs of ranks on them, and as
	// much again for names of process sets.
	maxReply = 2 * (64 + 3*(2+frame.MaxText) + (2+MaxName+8)*MaxRanks)
)

// maxTable bounds the answer to Exchange in a job of n processes.
func maxTable(n int) int { return n*(2+MaxValue) + 1 }

// A linkReader splits the stream of a link into frames and keeps the attached descriptors.
type linkReader struct {
	frame.Reader
	link  *sys.Link
	files []*os.File // received and not yet asked for
}

func newLinkReader(link *sys.Link, limit int) *linkReader {
	r := &linkReader{link: link}
	r.Reader = frame.Reader{Source: r, Limit: limit}
	return r
}

// Read returns the bytes of the frames.
func (r *linkReader) Read(b []byte) (int, error) {
	n, files, err := r.link.Read(b)
	for _, f := range files {
		if len(r.files) < 4 {
			r.files = append(r.files, f)
		} else {
			f.Close() // more descriptors than requests
		}
	}
	return n, err
}

// file takes the oldest descriptor that has arrived.
func (r *linkReader) file() *os.File {
	if len(r.files) == 0 {
		return nil
	}
	f := r.files[0]
	r.files = r.files[1:]
	return f
}

// versions are the versions that must be equal in program and launcher.
type versions struct{ protocol, wire, segment int }

// A greeting is the content of a Hello.
type greeting struct {
	versions
	build string // Build of the program; "" if the Hello has none
	inC   bool   // the program uses the C names of calls; false if the Hello does not say
	world bool   // the process calls Init of the world model
}

// ProtocolVersion is the version of the frames of this package.
const ProtocolVersion = 7

func ownVersions() versions { return versions{ProtocolVersion, wire.Version, shmfmt.Version} }

func (v versions) String() string {
	return fmt.Sprintf("launcher protocol %d, frames %d, segments %d", v.protocol, v.wire, v.segment)
}

const helloMagic = "HALO"

// How a program names calls: the byte after its build in a Hello.
const (
	languageGo uint8 = iota
	languageC
)

func (g greeting) encode() []byte {
	language := languageGo
	if g.inC {
		language = languageC
	}
	return frame.New(kindHello).Raw([]byte(helloMagic)).U16(g.protocol).U16(g.wire).U16(g.segment).Text(g.build).U8(language).U8(flag(g.world)).Bytes()
}

// flag encodes a bool.
func flag(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}

// decodeHello decodes a Hello. It ignores fields that later versions may append.
func decodeHello(body []byte) (greeting, error) {
	r := frame.Body{Left: body}
	magic := string(r.Take(len(helloMagic)))
	g := greeting{versions: versions{r.U16(), r.U16(), r.U16()}}
	if r.Bad || magic != helloMagic {
		return greeting{}, fmt.Errorf("boot: not a greeting of a Halo program: %q", body[:min(len(body), 16)])
	}
	g.build = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, r.Text())
	g.inC = r.U8() == languageC
	g.world = r.U8() != 0
	return g, nil
}

// EncodeTable returns the Table frame that answers an Exchange: the values of all processes,
// by rank.
func EncodeTable(values [][]byte) []byte {
	w := frame.New(kindTable)
	for _, v := range values {
		w.U16(len(v)).Raw(v)
	}
	return w.Bytes()
}

func decodeTable(body []byte, n int) ([][]byte, error) {
	r := frame.Body{Left: append([]byte(nil), body...)}
	values := make([][]byte, n)
	for i := range values {
		size := r.U16()
		if size > MaxValue {
			return nil, fmt.Errorf("boot: value of %d bytes from rank %d, the limit is %d", size, i, MaxValue)
		}
		values[i] = r.Take(size)
	}
	if !r.Done() {
		return nil, fmt.Errorf("boot: table of %d bytes does not hold the values of %d ranks", len(body), n)
	}
	return values, nil
}
