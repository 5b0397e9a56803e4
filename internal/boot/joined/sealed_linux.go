package joined

import (
	"io"
	"os"

	"github.com/halo-mpi/halo/internal/wire"
)

// A sealedConn is the connection of two leaders: a stream of bytes, sealed in pieces. One goroutine at a
// time may read, and one may write.
type sealedConn struct {
	file *os.File
	seal *wire.Sealed

	in     []byte // of the piece that is read
	opened []byte // what is left of it
	out    []byte
}

// Read implements io.Reader.
func (c *sealedConn) Read(b []byte) (int, error) {
	if len(c.opened) == 0 {
		var head [4]byte
		if _, err := io.ReadFull(c.file, head[:]); err != nil {
			return 0, err
		}
		n, err := wire.PieceSize(head[:])
		if err != nil {
			return 0, err
		}
		if cap(c.in) < n {
			c.in = make([]byte, n)
		}
		c.in = c.in[:n]
		copy(c.in, head[:])
		if _, err := io.ReadFull(c.file, c.in[len(head):]); err != nil {
			return 0, err
		}
		if c.opened, err = c.seal.OpenPiece(c.in); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.opened)
	c.opened = c.opened[n:]
	return n, nil
}

// Write implements io.Writer.
func (c *sealedConn) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		piece := b[n:min(n+wire.PieceMax, len(b))]
		c.out = c.seal.SealPiece(c.out[:0], piece)
		if _, err = c.file.Write(c.out); err == nil {
			n += len(piece)
		}
	}
	return n, err
}
