package bind

import "unsafe"

// # Memory for functions of the program
//
// Functions of the program get memory of Go: operands of reductions that were received, or that C has for
// calculations, data of files in the form of the program, the status of a generalized request. Valgrind does not
// know Go's heap. It takes a jump of the stack pointer from one stack of Go to another one nearby for a stack that
// shrinks, and memory of the heap between them for free: then it reports accesses that are right. Under valgrind
// functions therefore get a copy in a block of malloc. So valgrind also finds accesses beyond an operand, and to
// operands of calls that have ended.
//
// Rejected: such memory outside of the Go heap always, since all schedules of collectives would have to free it;
// and copies for all, which cost a reduction of long operands half its speed.

// watched is memory that a function of the program accesses.
type watched struct {
	mem, copy []byte
	before    string // the bytes of the copy at the beginning
}

// watch returns mem for a function of the program. The caller calls end after the function.
func (l *Lib) watch(mem []byte) (w watched) {
	w.mem, w.copy = mem, mem
	if len(mem) > 0 && l.hooks.Lend != nil {
		w.copy = unsafe.Slice((*byte)(l.hooks.Lend(uintptr(len(mem)))), len(mem))
		copy(w.copy, mem)
		w.before = string(mem)
	}
	return w
}

// address is the address that the function gets.
func (w *watched) address() uintptr { return address(w.copy) }

// end stores the bytes that the function has changed, and no others: the memory may have gaps that belong to
// somebody else.
func (w *watched) end(l *Lib) {
	if w.before == "" {
		return
	}
	for i, b := range w.copy {
		if b != w.before[i] {
			w.mem[i] = b
		}
	}
	l.hooks.Return(unsafe.Pointer(unsafe.SliceData(w.copy)))
}
