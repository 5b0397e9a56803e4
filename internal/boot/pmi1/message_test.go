package pmi1

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// A message is found by its keys, whatever their order and number; a value ends at a space that does
// not follow a backslash, and keeps all other characters.
func TestMessages(t *testing.T) {
	for _, x := range []struct {
		text string
		want Message
	}{
		{"cmd=barrier_out\n", New("barrier_out")},
		{"cmd=get_result rc=0 value=v\n", New("get_result", "rc", "0", "value", "v")},
		{"cmd=get_result value=a=b;c\\d found=TRUE rc=0\n", New("get_result", "value", `a=b;c\d`, "found", "TRUE", "rc", "0")},
		{"cmd=get_result rc=0 value=(vector,(0,2,1)) \n", New("get_result", "rc", "0", "value", "(vector,(0,2,1))")},
		{"cmd=put  key=a\\ b value=\n", New("put", "key", `a\ b`, "value", "")},
		{"cmd=put_result rc=-1 flag\n", New("put_result", "rc", "-1", "flag", "")},
		{"mcmd=spawn\nnprocs=2\nexecname=/a b\narg1=x = y\nendcmd\n", New("spawn", "nprocs", "2", "execname", "/a b", "arg1", "x = y")},
	} {
		got, err := NewReader(strings.NewReader(x.text)).Next()
		if err != nil || !reflect.DeepEqual(got, x.want) {
			t.Errorf("%q: %q, %v", x.text, got, err)
			continue
		}
		b, err := got.Bytes()
		if err != nil {
			t.Errorf("%q: %v", x.text, err)
			continue
		}
		if again, err := NewReader(strings.NewReader(string(b))).Next(); err != nil || !reflect.DeepEqual(again, x.want) {
			t.Errorf("%q is sent as %q, which is %q, %v", x.text, b, again, err)
		}
	}
}

// Several messages follow each other in a stream, and its end is io.EOF only between two of them.
func TestStreams(t *testing.T) {
	r := NewReader(strings.NewReader("cmd=a\nmcmd=spawn\nx=1\nendcmd\ncmd=b x=2\ncmd=half"))
	var names []string
	for {
		m, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Error(err)
			}
			break
		}
		names = append(names, m.Name)
	}
	if got := fmt.Sprint(names); got != "[a spawn b]" {
		t.Error(got)
	}
	if _, err := NewReader(strings.NewReader("mcmd=spawn\nx=1\n")).Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("half of a message of several lines:", err)
	}
	if _, err := NewReader(strings.NewReader("")).Next(); err != io.EOF {
		t.Error("nothing:", err)
	}
}

// What is no message, or longer than any, is an error that quotes it.
func TestNoMessages(t *testing.T) {
	for text, want := range map[string]string{
		"hello\n":      `no message: "hello"`,
		"cmd=get =x\n": "field without a key",
		"cmd=" + strings.Repeat("x", MaxLine) + "\n":                              "more than 8192 bytes",
		"mcmd=spawn\n" + strings.Repeat("a=1\n", 1<<16):                           "more than 65536 lines",
		"mcmd=spawn\n" + strings.Repeat("a="+strings.Repeat("x", 8000)+"\n", 132): "more than 1048576 bytes",
	} {
		if _, err := NewReader(strings.NewReader(text)).Next(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// Text that would end a field early is not sent.
func TestUnsendable(t *testing.T) {
	for _, m := range []Message{New("put", "value", "a b"), New("put", "value", "a\nb"), New("put", "value", "a\\\nb"), New("put", "a=b", ""),
		New("put", "", "x"), New("spawn", "arg1", "a\nb")} {
		if b, err := m.Bytes(); err == nil {
			t.Errorf("%q was sent as %q", m, b)
		}
	}
	if _, err := New("spawn", "arg1", "a b").Bytes(); err != nil {
		t.Error(err)
	}
}
