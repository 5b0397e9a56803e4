package pool

import (
	"encoding/binary"
	"errors"

	"github.com/halo-mpi/halo/mpi"
)

// The master, the process that has the pool, sends each task as one message with the number of the
// slot as its tag, and the answer has the same tag. Everything else that it sends has tagControl.
//
//	task     number uvarint, length of the name uvarint, name, encoded argument
//	control  controlCancel, number of the task uvarint | controlClose
//	answer   answerResult, encoded result
//	         answerError or answerPanic, cause, class uvarint, length of the text uvarint, text, stack
const tagControl = 0 // slots count from 1

const (
	controlCancel byte = iota
	controlClose
)

const (
	answerResult byte = iota
	answerError
	answerPanic
)

// errFrame is the error of a message that is none of the above.
var errFrame = errors.New("malformed message: the processes of a pool must run the same program")

// encodeTask is the message of a task.
func encodeTask(number uint64, name string, arg []byte) []byte {
	b := make([]byte, 0, 2*binary.MaxVarintLen64+len(name)+len(arg))
	b = binary.AppendUvarint(b, number)
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	return append(b, arg...)
}

// decodeTask is the inverse of encodeTask.
func decodeTask(b []byte) (number uint64, name string, arg []byte, err error) {
	number, b, err = uvarint(b)
	if err != nil {
		return 0, "", nil, err
	}
	name, arg, err = text(b)
	return number, name, arg, err
}

// encodeCancel is the message that ends the context of a task.
func encodeCancel(number uint64) []byte { return binary.AppendUvarint([]byte{controlCancel}, number) }

// encodeError is the answer of a task that has failed.
func encodeError(kind, cause byte, class mpi.Class, what, stack string) []byte {
	b := []byte{kind, cause}
	b = binary.AppendUvarint(b, uint64(class))
	b = binary.AppendUvarint(b, uint64(len(what)))
	b = append(b, what...)
	return append(b, stack...)
}

// decodeAnswer is the encoded result of a task, or its error, without function and worker.
func decodeAnswer(b []byte) ([]byte, *Error) {
	bad := &Error{Text: errFrame.Error(), cause: mpi.ErrOther}
	if len(b) == 0 {
		return nil, bad
	}
	kind, b := b[0], b[1:]
	if kind == answerResult {
		return b, nil
	}
	if kind > answerPanic || len(b) == 0 {
		return nil, bad
	}
	of := b[0]
	class, b, err := uvarint(b[1:])
	if err != nil {
		return nil, bad
	}
	what, stack, err := text(b)
	if err != nil {
		return nil, bad
	}
	return nil, &Error{Text: what, Stack: string(stack), cause: cause(of, mpi.Class(class))}
}

func uvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errFrame
	}
	return v, b[n:], nil
}

// text is a text with its length before it, and what follows.
func text(b []byte) (string, []byte, error) {
	n, b, err := uvarint(b)
	if err != nil || n > uint64(len(b)) {
		return "", nil, errFrame
	}
	return string(b[:n]), b[n:], nil
}
