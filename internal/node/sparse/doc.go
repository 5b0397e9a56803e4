// Package sparse maps memory files of which only a small part is used. It reserves the addresses
// of the whole file, but only the parts in use can be accessed. Package heap maps the heaps of windows with it, and
// package node those of peers.
//
// Some tools read all memory of a process: the leak search of a memory checker, debuggers that
// write a core, checkpointing. Reading a page of a sparse file allocates the page. A heap may be twice
// as large as the machine's memory: a tool that could read all of it would use up the memory, and the
// kernel would kill the process and others.
//
// The trap: memory of a Mapping that is not open faults, like memory that is not mapped.
package sparse
