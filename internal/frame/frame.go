// Package frame cuts byte streams into frames, between the processes that start
// a job and those that they start: a launcher and its ranks, a launcher and its
// agents on other hosts, and the leaders of nodes. (What ranks send each other
// has another format, in package wire.)
//
//	length uint32 | kind uint8 | body of length-1 bytes
//
// All numbers are little-endian. The reader says how long a frame may be, so
// that a stranger cannot make it hold more than that.
package frame

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// HeadSize is what comes before the body, in bytes.
	HeadSize = 5
	// MaxText bounds reasons and explanations, in bytes.
	MaxText = 1024
)

// Writer builds one frame.
type Writer struct{ b []byte }

// New begins a frame.
func New(kind uint8) *Writer { return &Writer{[]byte{0, 0, 0, 0, kind}} }

// U8 appends a number.
func (w *Writer) U8(v uint8) *Writer {
	w.b = append(w.b, v)
	return w
}

// U16 appends a number.
func (w *Writer) U16(v int) *Writer {
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(v))
	return w
}

// U32 appends a number.
func (w *Writer) U32(v uint32) *Writer {
	w.b = binary.LittleEndian.AppendUint32(w.b, v)
	return w
}

// Raw appends bytes.
func (w *Writer) Raw(b []byte) *Writer {
	w.b = append(w.b, b...)
	return w
}

// Rest appends text, at most MaxText of it, as the end of the frame.
func (w *Writer) Rest(text string) *Writer {
	w.b = append(w.b, text[:min(len(text), MaxText)]...)
	return w
}

// Text appends text, at most MaxText of it, with its length before it.
func (w *Writer) Text(text string) *Writer {
	text = text[:min(len(text), MaxText)]
	return w.U16(len(text)).Raw([]byte(text))
}

// Words appends a list of texts of any length.
func (w *Writer) Words(list []string) *Writer {
	w.U32(uint32(len(list)))
	for _, s := range list {
		w.U32(uint32(len(s))).Raw([]byte(s))
	}
	return w
}

// Bytes is the frame.
func (w *Writer) Bytes() []byte {
	binary.LittleEndian.PutUint32(w.b, uint32(len(w.b)-4))
	return w.b
}

// Reader cuts a stream into frames. It holds at most one frame of the allowed
// size and the bytes of one more read.
type Reader struct {
	Source io.Reader
	Limit  int // of length; may change between frames

	buf   []byte
	used  int    // bytes of buf that the last frame took
	chunk []byte // what one read takes
}

// Next returns the next frame; body is valid until the next call. At the end of
// the stream the error is io.EOF, even if the stream ends within a frame.
func (r *Reader) Next() (kind uint8, body []byte, err error) {
	r.buf = append(r.buf[:0], r.buf[r.used:]...)
	r.used = 0
	for {
		kind, body, n, err := Cut(r.buf, r.Limit)
		if err != nil {
			return 0, nil, err
		}
		if n > 0 {
			r.used = n
			return kind, body, nil
		}
		if r.chunk == nil {
			r.chunk = make([]byte, 4096)
		}
		n, err = r.Source.Read(r.chunk)
		r.buf = append(r.buf, r.chunk[:n]...)
		if n == 0 && err != nil {
			return 0, nil, err
		}
	}
}

// Cut returns the frame at the start of b and its length, or 0 if b does not
// hold a whole one yet.
func Cut(b []byte, limit int) (kind uint8, body []byte, length int, err error) {
	if len(b) < 4 {
		return 0, nil, 0, nil
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n < 1 || n > limit {
		return 0, nil, 0, fmt.Errorf("frame of %d bytes, the limit is %d", n, limit)
	}
	if len(b) < 4+n {
		return 0, nil, 0, nil
	}
	return b[4], b[HeadSize : 4+n], 4 + n, nil
}

// Body takes the fields of a body in order. The first failure stays.
type Body struct {
	Left []byte
	Bad  bool // a field was longer than what was left
}

// Take takes n bytes. If fewer are left, it sets Bad and returns zeros instead, at
// most 64 of them, so that an absurd n costs no memory.
func (r *Body) Take(n int) []byte {
	if n < 0 || n > len(r.Left) {
		r.Bad, r.Left = true, nil
		return make([]byte, min(max(n, 0), 64))
	}
	v := r.Left[:n]
	r.Left = r.Left[n:]
	return v
}

// U8 takes a number.
func (r *Body) U8() uint8 { return r.Take(1)[0] }

// U16 takes a number.
func (r *Body) U16() int { return int(binary.LittleEndian.Uint16(r.Take(2))) }

// U32 takes a number.
func (r *Body) U32() uint32 { return binary.LittleEndian.Uint32(r.Take(4)) }

// Text takes what Writer.Text has written.
func (r *Body) Text() string {
	text := r.Take(r.U16())
	if r.Bad {
		return ""
	}
	return string(text)
}

// Words takes what Writer.Words has written.
func (r *Body) Words() []string {
	n := int(r.U32())
	if n > len(r.Left)/4 { // each takes four bytes at least
		r.Bad, r.Left = true, nil
	}
	var list []string
	for i := 0; i < n && !r.Bad; i++ {
		list = append(list, string(r.Take(int(r.U32()))))
	}
	return list
}

// Done reports whether the body had all fields that were taken, and no more bytes.
func (r *Body) Done() bool { return !r.Bad && len(r.Left) == 0 }
