package boot

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// kind says what a frame means.
type kind uint8

const (
	kindHello kind = 1 + iota
	kindExchange
	kindSegment
	kindFinalize
	kindAbort
)

const (
	kindWelcome kind = 64 + iota
	kindRefused
	kindTable
	kindDescriptor
	kindFailed
	kindOver
)

const (
	headSize = 5 // length and kind

	// The second byte of Failed.
	failedOther       byte = 0
	failedUnsupported byte = 1 // this node has no such memory
)

const (
	// maxRequest bounds frames to the launcher: a value of Exchange and some.
	maxRequest = 1100
	// maxText bounds reasons and explanations in both directions, in bytes.
	maxText = 1024
	// maxReply bounds frames to the program before it knows the job's size:
	// Welcome with as many hosts, and runs of ranks on them, as a job can have.
	maxReply = 64 + 3*(2+maxText) + (2+MaxName+8)*MaxRanks
)

// maxTable bounds the answer to Exchange in a job of n processes.
func maxTable(n int) int { return n*(2+MaxValue) + 1 }

// frameWriter builds one frame.
type frameWriter struct{ b []byte }

func newFrame(k kind) *frameWriter { return &frameWriter{[]byte{0, 0, 0, 0, byte(k)}} }

func (w *frameWriter) u16(v int) *frameWriter {
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(v))
	return w
}

func (w *frameWriter) u32(v uint32) *frameWriter {
	w.b = binary.LittleEndian.AppendUint32(w.b, v)
	return w
}

func (w *frameWriter) raw(b []byte) *frameWriter {
	w.b = append(w.b, b...)
	return w
}

// rest writes text as the end of the frame.
func (w *frameWriter) rest(text string) *frameWriter {
	w.b = append(w.b, text[:min(len(text), maxText)]...)
	return w
}

// text writes text with its length before it.
func (w *frameWriter) text(text string) *frameWriter {
	text = text[:min(len(text), maxText)]
	return w.u16(len(text)).raw([]byte(text))
}

func (w *frameWriter) bytes() []byte {
	binary.LittleEndian.PutUint32(w.b, uint32(len(w.b)-4))
	return w.b
}

// frameReader cuts a stream into frames. It holds at most one frame of the
// allowed size and one read more.
type frameReader struct {
	link  *sys.Link
	limit int // of length
	buf   []byte
	used  int        // bytes of buf that the last frame took
	chunk []byte     // what one read takes
	files []*os.File // descriptors received and not yet asked for
}

// next returns the next frame; body is valid until the call after. At the end
// of the stream between two frames the error is io.EOF.
func (r *frameReader) next() (kind, []byte, error) {
	r.buf = append(r.buf[:0], r.buf[r.used:]...)
	r.used = 0
	for {
		k, body, n, err := cutFrame(r.buf, r.limit)
		if err != nil {
			return 0, nil, err
		}
		if n > 0 {
			r.used = n
			return k, body, nil
		}
		if r.chunk == nil {
			r.chunk = make([]byte, 4096)
		}
		n, files, err := r.link.Read(r.chunk)
		for _, f := range files {
			if len(r.files) < 4 {
				r.files = append(r.files, f)
			} else {
				f.Close() // nobody asked for so many
			}
		}
		if err != nil {
			return 0, nil, err
		}
		r.buf = append(r.buf, r.chunk[:n]...)
	}
}

// file returns the oldest descriptor that came and was not taken.
func (r *frameReader) file() *os.File {
	if len(r.files) == 0 {
		return nil
	}
	f := r.files[0]
	r.files = r.files[1:]
	return f
}

// cutFrame looks at the start of b for a whole frame and returns its size, or 0
// if more bytes are needed.
func cutFrame(b []byte, limit int) (k kind, body []byte, size int, err error) {
	if len(b) < 4 {
		return 0, nil, 0, nil
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n < 1 || n > limit {
		return 0, nil, 0, fmt.Errorf("boot: frame of %d bytes, the limit is %d", n, limit)
	}
	if len(b) < 4+n {
		return 0, nil, 0, nil
	}
	return kind(b[4]), b[headSize : 4+n], 4 + n, nil
}

// bodyReader takes the fields of a body in order. The first failure stays.
type bodyReader struct {
	b   []byte
	bad bool
}

func (r *bodyReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return make([]byte, min(max(n, 0), 64))
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *bodyReader) u16() int     { return int(binary.LittleEndian.Uint16(r.take(2))) }
func (r *bodyReader) u32() uint32  { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *bodyReader) text() string { return string(r.take(r.u16())) }

// done reports whether the body held just what was taken.
func (r *bodyReader) done() bool { return !r.bad && len(r.b) == 0 }

// versions is what a Hello says.
type versions struct{ protocol, wire, segment int }

// ProtocolVersion is the version of the frames of this package.
const ProtocolVersion = 2

func ownVersions() versions { return versions{ProtocolVersion, wire.Version, shmfmt.Version} }

func (v versions) String() string {
	return fmt.Sprintf("launcher protocol %d, frames %d, segments %d", v.protocol, v.wire, v.segment)
}

const helloMagic = "HALO"

func (v versions) encode() []byte {
	return newFrame(kindHello).raw([]byte(helloMagic)).u16(v.protocol).u16(v.wire).u16(v.segment).bytes()
}

// decodeHello takes what later versions may append without looking at it.
func decodeHello(body []byte) (versions, error) {
	r := bodyReader{b: body}
	magic := string(r.take(len(helloMagic)))
	v := versions{r.u16(), r.u16(), r.u16()}
	if r.bad || magic != helloMagic {
		return versions{}, fmt.Errorf("boot: not a greeting of a Halo program: %q", body[:min(len(body), 16)])
	}
	return v, nil
}

func encodeTable(values [][]byte) []byte {
	w := newFrame(kindTable)
	for _, v := range values {
		w.u16(len(v)).raw(v)
	}
	return w.bytes()
}

func decodeTable(body []byte, n int) ([][]byte, error) {
	r := bodyReader{b: append([]byte(nil), body...)}
	values := make([][]byte, n)
	for i := range values {
		size := r.u16()
		if size > MaxValue {
			return nil, fmt.Errorf("boot: value of %d bytes from rank %d, the limit is %d", size, i, MaxValue)
		}
		values[i] = r.take(size)
	}
	if !r.done() {
		return nil, fmt.Errorf("boot: table of %d bytes does not hold the values of %d ranks", len(body), n)
	}
	return values, nil
}
