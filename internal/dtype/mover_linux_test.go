package dtype

import (
	"runtime/debug"
	"syscall"
	"testing"
)

// No mover reads or writes a byte before or after the memory that it is given: the memory
// lies between pages without access rights.
func TestMoversStayWithinTheirMemory(t *testing.T) {
	const page, inner = 4096, 4 * longCopy
	room, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(room)
	for _, at := range []int{0, page + inner} {
		if err := syscall.Mprotect(room[at:at+page], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	room = room[page : page+inner : page+inner]
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	set := Predefined()
	for _, by := range movers() {
		try := func(n, size, stride int64) {
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("mover %d, %d blocks of %d bytes at stride %d: %v", by, n, size, stride, p)
				}
			}()
			v := must(t)(Hvector(n, size, stride, set.Type(Byte)))
			v.Commit()
			v.by = by
			wire := make([]byte, n*size)
			reach := (n-1)*stride + size
			for _, mem := range [][]byte{room[:reach], room[inner-reach:]} { // both ends of the room
				b, err := Bind(mem, 0, v, 1)
				if err != nil {
					t.Fatal(err)
				}
				b.Pack(wire, 0)
				b.Unpack(wire, 0)
			}
			// The same with the packed bytes at the ends of the room.
			mem := make([]byte, reach)
			b, _ := Bind(mem, 0, v, 1)
			b.Pack(room[:len(wire)], 0)
			b.Unpack(room[inner-len(wire):], 0)
		}
		for size := int64(1); size <= 700; size++ {
			try(1, size, size)
			try(3, size, 1024)
			try(2, size, size+7)
		}
		for n := int64(1); n < 100; n++ {
			try(n, 8, 16)
			try(n, 8, 72)
		}
		for _, n := range []int64{stringCopy, longCopy, 2 * longCopy} {
			try(1, n-1, n)
			try(1, n, n)
			try(1, n+1, n+1)
			try(1, n+63, n+63)
		}
	}
}
