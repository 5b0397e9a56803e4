package pmi2

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// headSize is the length of the decimal length before each frame.
const headSize = 6

// violation is the error of a server that does not follow the protocol.
type violation string

func (v violation) Error() string { return string(v) }

func violates(format string, args ...any) error { return violation(fmt.Sprintf(format, args...)) }

// A message is the body of a frame: pairs of key and value in their order, of which the first is
// the command.
type message [][2]string

// newMessage makes a message from a command and alternating keys and values.
func newMessage(cmd string, pairs ...string) message {
	m := message{{"cmd", cmd}}
	for i := 0; i+1 < len(pairs); i += 2 {
		m = append(m, [2]string{pairs[i], pairs[i+1]})
	}
	return m
}

// encode returns the frame of m. Values are not escaped, because servers do not undo that: whoever
// makes a message keeps semicolons out of it.
func (m message) encode() []byte {
	b := bytes.Repeat([]byte{' '}, headSize)
	for _, pair := range m {
		b = append(b, pair[0]...)
		b = append(b, '=')
		b = append(b, pair[1]...)
		b = append(b, ';')
	}
	size := strconv.Itoa(len(b) - headSize)
	copy(b[headSize-len(size):], size)
	return b
}

// parse parses a body. Two semicolons in a row stand for one that belongs to a value.
func parse(body string) (message, error) {
	var m message
	for left := body; left != ""; {
		key, rest, ok := strings.Cut(left, "=")
		if !ok || key == "" || strings.Contains(key, ";") {
			return nil, violates("frame %s has no key=value; at %d", excerpt(body), len(body)-len(left))
		}
		var value strings.Builder
		for {
			part, after, ok := strings.Cut(rest, ";")
			if !ok {
				return nil, violates("frame %s does not end at a semicolon", excerpt(body))
			}
			value.WriteString(part)
			rest = after
			if !strings.HasPrefix(rest, ";") {
				break
			}
			value.WriteByte(';')
			rest = rest[1:]
		}
		m = append(m, [2]string{key, value.String()})
		left = rest
	}
	if len(m) == 0 || m[0][0] != "cmd" {
		return nil, violates("frame %s does not begin with a command", excerpt(body))
	}
	return m, nil
}

// excerpt returns the beginning of a text from a server, in quotes.
func excerpt(text string) string { return fmt.Sprintf("%.80q", text) }

// cmd returns the command.
func (m message) cmd() string { return m[0][1] }

// get returns the first value of a key.
func (m message) get(key string) (string, bool) {
	for _, pair := range m[1:] {
		if pair[0] == key {
			return pair[1], true
		}
	}
	return "", false
}

// number returns the value of a key as a number; ok is false if there is none, or if it is no number.
func (m message) number(key string) (n int, ok bool) {
	v, _ := m.get(key)
	n, err := strconv.Atoi(v)
	return n, err == nil
}

// readMessage reads a frame. Memory grows with what arrives, not with the length that the frame
// announces.
func readMessage(r *bufio.Reader) (message, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size, err := strconv.ParseUint(strings.TrimSpace(string(head[:])), 10, 32)
	if err != nil {
		return nil, violates("frame of length %q", head)
	}
	var body strings.Builder
	if _, err := io.CopyN(&body, r, int64(size)); err != nil {
		return nil, err
	}
	return parse(body.String())
}
