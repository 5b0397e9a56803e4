package sys

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Readable and Writable test every page that a buffer touches, also with a single byte at one
// of its ends, and change nothing.
func TestProbesLookAtEveryPage(t *testing.T) {
	page := os.Getpagesize()
	memory, err := unix.Mmap(-1, 0, 4*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	for i := range memory {
		memory[i] = byte(i * 7)
	}
	want := bytes.Clone(memory[page : 3*page])
	for _, outer := range [][]byte{memory[:page], memory[3*page:]} {
		if err := unix.Mprotect(outer, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	const most = 9
	for before := range most {
		for behind := range most {
			b := memory[page-before : 3*page+behind]
			there := before == 0 && behind == 0
			if got := Readable(b); got != there {
				t.Errorf("with %d bytes missing at the beginning and %d at the end, Readable is %v", before, behind, got)
			}
			if got := Writable(b); got != there {
				t.Errorf("with %d bytes missing at the beginning and %d at the end, Writable is %v", before, behind, got)
			}
		}
	}
	for from := range most {
		for n := range most {
			for _, b := range [][]byte{memory[page+from:][:n], memory[3*page-from-n:][:n]} {
				if !Readable(b) || !Writable(b) {
					t.Errorf("%d bytes at %d from an end are there, and are not found", n, from)
				}
			}
		}
	}
	if !bytes.Equal(memory[page:3*page], want) {
		t.Error("the memory has changed")
	}
}

// The tests of a buffer do not access the memory beside it: the race detector reports neither a race
// with a goroutine that writes there nor a pointer beyond an object.
func TestProbesLeaveTheNeighbours(t *testing.T) {
	for _, size := range []int{2, 7, 8, 1000, 0x80001, 0x80003} { // above 32 KiB an object ends where its memory does
		whole := make([]byte, size)
		written := make(chan struct{})
		go func() {
			whole[0] = 1
			close(written)
		}()
		if b := whole[1:]; !Readable(b) || !Writable(b) {
			t.Errorf("%d bytes of the heap are not found", len(b))
		}
		<-written
	}
}
