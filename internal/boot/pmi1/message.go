package pmi1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Message is one request or answer of PMI-1: a line of text such as "cmd=put key=a value=v", or, to
// start processes, several lines from "mcmd=spawn" to "endcmd". The order of the fields has no meaning
// in a line, and servers of different versions add fields: a reader looks for the keys that it knows.
type Message struct {
	Name   string // "put", or "spawn"
	Fields []Field
}

// A Field is a key and its value. The value is as it was sent: a backslash before a space, with which
// newer versions of MPICH continue a value, is part of it.
type Field struct{ Key, Value string }

const (
	// MaxLine is the length in bytes of the longest line that a Reader accepts: far more than the longest
	// key and the longest value, which have 64 and 1024 bytes.
	MaxLine = 1 << 13
	// maxLines is the number of lines in the longest request to start processes, and maxLong the number
	// of bytes in it.
	maxLines = 1 << 16
	maxLong  = 1 << 20

	lines     = "spawn"  // the name of the only messages of several lines
	endOfMore = "endcmd" // their last line
)

// New returns a message with fields from pairs of keys and values.
func New(name string, pairs ...string) Message {
	m := Message{Name: name}
	for i := 0; i+1 < len(pairs); i += 2 {
		m.Fields = append(m.Fields, Field{pairs[i], pairs[i+1]})
	}
	return m
}

// Get returns the value of the first field with a key.
func (m Message) Get(key string) (value string, ok bool) {
	for _, f := range m.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Int returns the number of the first field with a key; ok is false if there is none.
func (m Message) Int(key string) (n int, ok bool) {
	value, _ := m.Get(key)
	n, err := strconv.Atoi(value)
	return n, err == nil
}

// Bytes returns the message as it is sent. It fails for text that would end a field early.
func (m Message) Bytes() ([]byte, error) {
	var b strings.Builder
	several := m.Name == lines
	word, between, breaks := "cmd=", " ", " \n"
	if several {
		word, between, breaks = "mcmd=", "\n", "\n"
	}
	b.WriteString(word + m.Name)
	for _, f := range m.Fields {
		if f.Key == "" || strings.ContainsAny(f.Key, " =\n") || containsUnescaped(f.Value, breaks) {
			return nil, fmt.Errorf("pmi1: %s cannot carry %s=%q", m.Name, f.Key, f.Value)
		}
		b.WriteString(between + f.Key + "=" + f.Value)
	}
	b.WriteString("\n")
	if several {
		b.WriteString(endOfMore + "\n")
	}
	return []byte(b.String()), nil
}

// containsUnescaped reports whether text contains a character of any without a backslash before it. A
// newline counts even after a backslash, since it ends a field in any case.
func containsUnescaped(text, any string) bool {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] != '\n':
			i++
		case strings.IndexByte(any, text[i]) >= 0:
			return true
		}
	}
	return false
}

// A Reader reads messages from a stream.
type Reader struct{ from *bufio.Reader }

// NewReader returns a reader of from.
func NewReader(from io.Reader) *Reader { return &Reader{bufio.NewReaderSize(from, MaxLine)} }

// Next returns the next message. At the end of the stream between two messages the error is io.EOF,
// and io.ErrUnexpectedEOF within one.
func (r *Reader) Next() (Message, error) {
	line, err := r.line()
	if err != nil {
		return Message{}, err
	}
	if name, ok := strings.CutPrefix(line, "mcmd="); ok {
		return r.more(name)
	}
	return parse(line)
}

// line returns the next line without its end.
func (r *Reader) line() (string, error) {
	b, err := r.from.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("pmi1: message of more than %d bytes: %q", MaxLine, b[:40])
	case err == io.EOF && len(b) > 0:
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	}
	return string(b[:len(b)-1]), nil
}

// parse parses a message of one line.
func parse(line string) (Message, error) {
	var m Message
	text, found := strings.CutPrefix(line, "cmd=")
	if !found {
		return m, fmt.Errorf("pmi1: no message: %q", line[:min(len(line), 200)])
	}
	m.Name, text = value(text)
	for {
		text = strings.TrimLeft(text, " ")
		if text == "" {
			return m, nil
		}
		end := strings.IndexAny(text, "= ")
		if end == 0 {
			return m, fmt.Errorf("pmi1: %s has a field without a key: %q", m.Name, line[:min(len(line), 200)])
		}
		var f Field
		switch {
		case end < 0:
			f.Key, text = text, ""
		case text[end] == ' ':
			f.Key, text = text[:end], text[end:]
		default:
			f.Key = text[:end]
			f.Value, text = value(text[end+1:])
		}
		m.Fields = append(m.Fields, f)
	}
}

// value returns the value at the start of text, which ends at a space, and the rest.
func value(text string) (value, rest string) {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ' ':
			return text[:i], text[i:]
		case text[i] == '\\':
			i++
		}
	}
	return text, ""
}

// more reads a message of several lines, the first of which has been read.
func (r *Reader) more(name string) (Message, error) {
	m := Message{Name: name}
	size := 0
	for range maxLines {
		line, err := r.line()
		size += len(line)
		switch {
		case size > maxLong:
			return m, fmt.Errorf("pmi1: %.40s of more than %d bytes", name, maxLong)
		case err == io.EOF:
			return m, io.ErrUnexpectedEOF
		case err != nil:
			return m, err
		case line == endOfMore:
			return m, nil
		}
		key, value, _ := strings.Cut(line, "=")
		m.Fields = append(m.Fields, Field{key, value})
	}
	return m, fmt.Errorf("pmi1: %.40s of more than %d lines", name, maxLines)
}
