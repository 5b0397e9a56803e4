// Package sparse maps memory files that are much larger than what is used of them, so
// that the addresses of all are reserved, and only what is in use can be accessed.
//
// The reason are those who walk through all the memory of a process: the leak search of a
// memory checker, debuggers that write a core, tools that checkpoint. A page of a sparse
// file that is only read is made, too. A walk through the mapping of a heap of twice the
// machine's memory therefore ends the process, and others.
//
// The trap: memory of a Mapping that is not open faults, as memory that is not mapped.
package sparse
