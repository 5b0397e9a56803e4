// Package memhandle has what memory handles of dynamic windows need no window for: the bytes of a
// handle, and the table of the memory that the handles of a process name.
//
// A memory handle names memory of one member of a dynamic window, and opens it to the members that
// have the handle, which is bytes that the program sends. The key in it protects the memory: 62 random
// bits, drawn anew for each handle, so that a handle that was forged, released or made for another
// window names nothing.
//
// A key is an address: byte 0 of the memory has the key as its address in a space above all real
// addresses (Space). So frames are those of any dynamic window, and one word of them names the handle,
// a place in its memory and the right to access it.
//
// Rejected: a frame that opens a handle before its first use. It would permit longer keys, and cost a
// message for each window, state at the target for each origin, and an order between channels. A stray
// access hits with a probability of the memory of all handles in 2^62 bytes.
//
// Package rma uses it: it makes, resolves and releases handles, and publishes keys to the processes of
// the node (rma/handle.go, rma/handle_window.go).
//
// The trap: nothing here locks. A Table is guarded by the lock of the engine.
package memhandle
