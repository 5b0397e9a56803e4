// Package sparse maps memory files that are much larger than what is used of them, so
// that the addresses of all are reserved, and only what is in use can be accessed.
//
// Some tools read all memory of a process: the leak search of a memory checker, debuggers that
// write a core, checkpointing. Reading a page of a sparse file allocates the page. To read the
// mapping of a heap of twice the machine's memory would therefore end the process, and others.
//
// The trap: memory of a Mapping that is not open faults, like memory that is not mapped.
package sparse
