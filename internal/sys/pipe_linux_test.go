package sys

import (
	"os"
	"path/filepath"
	"testing"
)

// Unread counts what is in a pipe, seen from both ends, and nothing that cannot be read any more.
func TestUnread(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := func(n int, when string) {
		t.Helper()
		if got := Unread(int(w.Fd())); got != n {
			t.Errorf("%s: %d bytes are unread, want %d", when, got, n)
		}
	}
	want(0, "an empty pipe")
	w.WriteString("hello, world")
	want(12, "after a write")
	if got := Unread(int(r.Fd())); got != 12 {
		t.Errorf("the reader's end has %d bytes", got)
	}
	r.Read(make([]byte, 5))
	want(7, "after a read")
	r.Close()
	want(0, "without a reader")
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("hello")
	f.Seek(0, 0)
	if got := Unread(int(f.Fd())); got != 0 {
		t.Errorf("a file has %d unread bytes", got)
	}
}
