// Package node is what the processes of one machine share: the control segment, the segment
// of each process with its heap, doorbells to wake each other, and access to each other's memory.
// Collectives, one-sided and partitioned communication and the allocation of windows use a Node directly;
// fabric/shm carries frames through its rings. Package world opens it (Open), and package shmfmt has the layouts.
//
// The same code serves ranks that are goroutines of one process, over memory of the Go heap
// (package inproc); Backend hides the differences. Package nodetest plays the launcher for tests.
//
// Read and Write copy from and to other memory of a peer by a system call, where the kernel permits it
// (process_vm_readv). Ring wakes a peer that sleeps: a load if it does not, a system call if it does.
//
// The trap: two kinds of indexes are in use. Processes of the node have local indexes from 0, which segments,
// doors and bitmaps use. Methods with a parameter peer take an index in the job. A number of the wrong kind is often
// valid, and then means another process.
package node
