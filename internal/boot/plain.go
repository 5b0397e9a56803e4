package boot

import (
	"bytes"
	"fmt"
	"io"

	"github.com/halo-mpi/halo/internal/frame"
)

// Plain is called for a process that does not speak the protocol of this package, but sends lines of
// text: see plainStart. It serves the process until its link ends, and reads from instead of the link.
// The errors are those of Session.Serve.
type Plain func(c *Session, from io.Reader) error

// plainStart is how the first request begins of a process that sends lines of text: PMI-1, as programs
// of MPICH speak it. As the length of a frame these bytes are more than any greeting has.
const plainStart = "cmd="

// start reads as much of the stream as shows what the process speaks. It returns a reader of the whole
// stream.
func (c *Session) start(from io.Reader) (whole io.Reader, plain bool, err error) {
	head := make([]byte, len(plainStart))
	n, err := io.ReadFull(from, head)
	if err != nil {
		return nil, false, err
	}
	return io.MultiReader(bytes.NewReader(head[:n]), from), string(head) == plainStart, nil
}

// servePlain has the server serve a process that sends lines of text.
func (c *Session) servePlain(from io.Reader) error {
	if err := c.begin(true); err != nil {
		return ended(err)
	}
	return ended(c.server.Plain(c, from))
}

// Gone is closed when the process has ended.
func (c *Session) Gone() <-chan struct{} { return c.gone }

// Write writes to a process that sends lines of text.
func (c *Session) Write(b []byte) (int, error) { return len(b), c.write(b, nil) }

// Exchange is the Exchange of a process that sends lines of text: it enters one with a value of at
// most MaxPlainValue bytes, and returns the values of all processes, which the caller must not change.
func (c *Session) Exchange(value []byte) ([][]byte, error) {
	t, me := c.server.table, c.server.index[c.rank]
	r, err := t.enter(me, value, MaxPlainValue)
	if err == nil {
		err = t.wait(r, me, c.gone)
	}
	if err != nil {
		return nil, err
	}
	return r.all()
}

// MaxPlainValue bounds the value of Session.Exchange in bytes: a Table has two bytes for its length.
const MaxPlainValue = 1<<16 - 1

// all returns the values of a round that deliver has ended, by rank.
func (r *round) all() ([][]byte, error) {
	r.decode.Do(func() {
		_, body, n, err := frame.Cut(r.frame, len(r.frame))
		b := frame.Body{Left: body}
		for err == nil && len(b.Left) > 0 {
			r.table = append(r.table, b.Take(b.U16()))
		}
		r.tableErr = err
		if err == nil && (n == 0 || b.Bad) {
			r.tableErr = fmt.Errorf("boot: table of %d bytes ends within a value", len(r.frame))
		}
	})
	return r.table, r.tableErr
}
