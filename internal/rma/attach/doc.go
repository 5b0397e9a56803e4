// Package attach is the memory that a process has attached to a dynamic window (MPI-5, 12.2.4): regions
// by address, which do not overlap, and lookups in them that treat regions side by side as one.
//
// Package rma uses it: frames are applied to this memory, and the process itself accesses it here. The
// other processes of the node read the attach table in shared memory, which rma keeps the same
// (rma/dynamic.go).
//
// The trap: nothing here locks. A List is guarded by the lock of the engine. A Region that Find has
// returned stays valid after Delete, but its memory is then attached no more.
package attach
