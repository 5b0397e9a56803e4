// Package memhandle has the parts of memory handles of dynamic windows that do not depend on a
// window: the encoding of a handle, and the table of the memory that the handles of a process
// name.
//
// A memory handle names memory of one member of a dynamic window, and permits access to the members
// that have the handle. The handle is a byte string, which the program sends to them. The key in it
// protects the memory: 62 random bits, drawn anew for each handle, so that a handle that was forged,
// released or made for another window names nothing.
//
// A key is an address: the address of byte 0 of the memory in a space above all real addresses
// (Space). So the frames are the same as for any dynamic window, and one word of them names the
// handle and a byte in its memory, and proves the right to access it.
//
// Rejected: a frame that opens a handle before its first use. It would permit longer keys, but
// cost a message for each window, state at the target for each origin, and an order between
// channels. The probability that an access to a random address hits is the size of the memory of
// all handles divided by 2^62.
//
// Package rma uses it: it makes, resolves and releases handles, and publishes keys to the processes of
// the node (rma/handle.go, rma/handle_window.go).
//
// The trap: the package does not lock. The lock of the engine guards a Table.
package memhandle
