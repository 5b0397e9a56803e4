package pmix

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/halo-mpi/halo/internal/boot/engine"
)

const (
	// headSize is the length of the header of each message: index int32, tag, length uint32, and 4
	// bytes without a meaning.
	headSize = 16
	// firstTag is the first tag of requests. Lower ones are those of events and forwarded output.
	firstTag = 100
	// maxMessage bounds the messages of a server. The longest is the description of a job, with some
	// 400 bytes for each process.
	maxMessage = 64 << 20
	// connectTimeout is how long the server, which runs on this node, may take for the handshake.
	connectTimeout = 60 * time.Second
	// claimed is the version of PMIx whose client this one imitates: the oldest that is not special
	// to any server.
	claimed = "4.2.2"
)

// commands of a client.
const (
	cmdJob      byte = 0
	cmdAbort    byte = 1
	cmdCommit   byte = 2
	cmdFence    byte = 3
	cmdGet      byte = 4
	cmdFinalize byte = 5
	cmdQuery    byte = 15
)

// greeting returns the message of the handshake. Its header is in native order, because the server
// does not know the client yet, and on the same machine.
func greeting(p Place) []byte {
	var body []byte
	text := func(s string) {
		body = append(body, s...)
		body = append(body, 0)
	}
	text(p.security)
	var cred []byte
	if p.security == "native" {
		cred = binary.NativeEndian.AppendUint32(cred, uint32(os.Geteuid()))
		cred = binary.NativeEndian.AppendUint32(cred, uint32(os.Getegid()))
	}
	body = binary.BigEndian.AppendUint32(body, uint32(len(cred)))
	body = append(body, cred...)
	body = append(body, 0) // a process that the server has started
	text(p.nspace)
	body = binary.BigEndian.AppendUint32(body, uint32(p.rank))
	text(claimed)
	text("v" + p.serializer)
	body = append(body, undescribed)
	text("hash") // values come in answers, not in shared memory

	var b []byte
	b = binary.NativeEndian.AppendUint32(b, 0xffffffff)
	b = binary.NativeEndian.AppendUint32(b, 0xffffffff)
	b = binary.NativeEndian.AppendUint32(b, uint32(len(body)))
	b = binary.NativeEndian.AppendUint32(b, 0)
	return append(b, body...)
}

// shake does the handshake and returns the index that the server gives to this process.
func shake(conn io.ReadWriter, p Place) (uint32, error) {
	if _, err := conn.Write(greeting(p)); err != nil {
		return 0, ending(err)
	}
	var reply [8]byte
	if _, err := io.ReadFull(conn, reply[:4]); err != nil {
		return 0, fmt.Errorf("%w: the server refuses serializer %s or the credentials of this user: start the program with srun --mpi=pmi2 if the engine is Slurm",
			ending(err), p.serializer)
	}
	if s := status(binary.BigEndian.Uint32(reply[:])); s != success {
		return 0, fmt.Errorf("the server answers with %v", s)
	}
	if _, err := io.ReadFull(conn, reply[4:]); err != nil {
		return 0, ending(err)
	}
	return binary.BigEndian.Uint32(reply[4:]), nil
}

// violation is the error of a server that does not follow the protocol.
type violation string

func (v violation) Error() string { return string(v) }

// ending returns what the error of a read or a write means.
func ending(err error) error {
	var v violation
	switch {
	case errors.As(err, &v):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the server has closed the connection", engine.ErrLost)
	}
	return fmt.Errorf("%w: %w", engine.ErrLost, err)
}

// pack returns a message with its header.
func pack(index, tag uint32, body []byte) []byte {
	b := make([]byte, 0, headSize+len(body))
	b = binary.BigEndian.AppendUint32(b, index)
	b = binary.BigEndian.AppendUint32(b, tag)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	b = binary.BigEndian.AppendUint32(b, 0)
	return append(b, body...)
}

// unpack reads a message. Memory grows with what arrives, not with the length that the header
// announces.
func unpack(r io.Reader) (tag uint32, body []byte, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	tag = binary.BigEndian.Uint32(head[4:])
	size := binary.BigEndian.Uint32(head[8:])
	if size > maxMessage {
		return 0, nil, violation(fmt.Sprintf("message of %d bytes, the limit is %d", size, maxMessage))
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, int64(size)); err != nil {
		return 0, nil, err
	}
	return tag, b.Bytes(), nil
}
