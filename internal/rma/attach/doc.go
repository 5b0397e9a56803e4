// Package attach keeps the memory that a process has attached to a dynamic window (MPI-5, 12.2.4): a
// list of regions by address, which do not overlap, and lookups that treat adjacent regions as one.
//
// Package rma uses it to find the memory for frames and for accesses of the process itself. The other
// processes of the node read the attach table in shared memory, which rma keeps equal to the list
// (rma/dynamic.go).
//
// The trap: the package does not lock. The lock of the engine guards a List. A Region that Find has
// returned stays valid after Delete, but its memory is then no longer attached.
package attach
