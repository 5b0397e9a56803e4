//go:build linux && cgo

// The fast paths in C, which do not enter Go: the shortest operations and accumulates of a few KiB on windows whose memory
// is mapped; short puts and gets by the kernel on unmapped windows of the same host; short messages and collectives on one
// node; accesses of files; local reductions, packing, and inquiries that a table answers. A call to Go costs as much as ten
// of the shortest operations. The files are named after what they do:
//
//   - fast_put_get: MPI_Put, MPI_Get; fast_rput: MPI_Rput and the like
//   - fast_accumulate: MPI_Accumulate, MPI_Get_accumulate; fast_element: one element, MPI_Fetch_and_op, MPI_Compare_and_swap
//   - fast_win_lock: MPI_Win_lock, MPI_Win_unlock, MPI_Win_flush, MPI_Win_sync
//   - fast_send: MPI_Send, MPI_Isend; fast_receive: MPI_Recv, MPI_Irecv; fast_wait: MPI_Wait, MPI_Waitall, MPI_Test, MPI_Testall
//   - quiet, watch: waits as long as nothing else arrives, and the watchdog
//   - fast_coll: MPI_Barrier, MPI_Bcast, MPI_Allreduce; fast_coll_exchange: MPI_Allgather, MPI_Alltoall
//   - fast_reduce_local, fast_pack, fast_file, fast_comm, fast_type: the calls of these names
//   - fast_integer: MPI_X_toint and MPI_X_fromint
//
// Each function returns whether it has done all of the call of that name. If it returns 0, it has changed nothing and the
// call goes to Go: for targets whose memory is not mapped, for types and operations that are not simple, if the call has to
// wait, and for all errors. Therefore C raises no errors. Short collectives also wait, and may fail while they do: see
// fast_coll.c.
//
// The functions access records that the engine shares with C (record.h). They do what the Go functions named in the
// comments do, with the same memory order.
//
// Go tells C when a handle of a window, communicator, file or type begins and ends. With HALO_C_FAST=0 in the environment Go
// tells C of no handle, and all calls but the clock go to Go.

package main

/*
#include "datatype.h"
#include "fast_layout.h"
#include "fast_pack.h"
#include "handle_table.h"
#include "kernel.h"
#include "valgrind.h"
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/abi/bind"
	"github.com/halo-mpi/halo/internal/dtype"
)

// fast implements bind.Fast by the tables of C.
type fast struct{}

// newFast tells C the functions with vector instructions that work on this machine. They do not
// depend on any handle.
func newFast() fast {
	v := dtype.VectorsHere()
	C.halo_know_movers(C.uintptr_t(v.Sparse), C.uintptr_t(v.Blocks), C.uintptr_t(v.String), C.uintptr_t(v.EveryOther), C.uintptr_t(v.Gather))
	return fast{}
}

// Watched reports whether the process runs under valgrind.
func (fast) Watched() bool { return C.halo_on_valgrind() != 0 }

func (fast) KnowType(h uintptr, size, extent, trueExtent int, kind bind.FastKind, code uint8) {
	C.halo_know_type(C.uintptr_t(h), C.int(size), C.int(extent), C.int(trueExtent), C.int(kind), C.int(code))
}

func (fast) KnowKernels(datatype uintptr, functions *[bind.FastOps]uintptr) {
	C.halo_know_kernels(C.uintptr_t(datatype), (*C.uintptr_t)(unsafe.Pointer(functions)))
}

func (fast) OpenComm(h uintptr, rank, size int, inter bool, slot, messages bind.Descriptor) {
	between := C.int(0)
	if inter {
		between = 1
	}
	C.halo_open_comm(C.uintptr_t(h), C.int(rank), C.int(size), between, C.uintptr_t(slot.Address), C.uint64_t(slot.Layout),
		C.uintptr_t(messages.Address), C.uint64_t(messages.Layout))
}

func (fast) CloseComm(h uintptr) { C.halo_close_comm(C.uintptr_t(h)) }

// OpenWin passes the address of a record that is not on the Go heap: see rma.View.Descriptor.
func (fast) OpenWin(h, descriptor uintptr, layout uint64) {
	C.halo_open_win(C.uintptr_t(h), C.uintptr_t(descriptor), C.uint64_t(layout))
}

func (fast) CloseWin(h uintptr) { C.halo_close_win(C.uintptr_t(h)) }

// OpenType does what halo_open_type does, without a call to C, whose cost would be noticeable for
// each new type.
func (fast) OpenType(h, record uintptr, layout uint64) {
	e := typeEntry(h)
	if e == nil || layout != C.HALO_TYPE_LAYOUT {
		C.halo_open_type(C.uintptr_t(h), C.uintptr_t(record), C.uint64_t(layout))
		return
	}
	*(*uintptr)(unsafe.Pointer(&e.descriptor)) = record
	atomic.StoreUintptr((*uintptr)(unsafe.Pointer(&e.handle)), h) // pairs with the load in halo_find
}

// CloseType clears the handle in the entry of a type.
func (fast) CloseType(h uintptr) {
	if e := typeEntry(h); e != nil {
		atomic.CompareAndSwapUintptr((*uintptr)(unsafe.Pointer(&e.handle)), h, 0)
	}
}

// typeEntry returns the entry of a type in the table of C, nil if its chunk does not exist yet.
func typeEntry(h uintptr) *C.struct_halo_entry {
	number := h >> 4 & (C.HALO_CHUNKS<<C.HALO_CHUNK_SHIFT - 1)
	chunk := atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&C.halo_datatypes.chunks[number>>C.HALO_CHUNK_SHIFT])))
	if chunk == nil {
		return nil
	}
	const inChunk = 1<<C.HALO_CHUNK_SHIFT - 1
	return (*C.struct_halo_entry)(unsafe.Add(chunk, number&inChunk*unsafe.Sizeof(C.struct_halo_entry{})))
}

// OpenFile passes the address of a record that is not on the Go heap: see file.File.Descriptor.
func (fast) OpenFile(h, descriptor uintptr, layout uint64) {
	C.halo_open_file(C.uintptr_t(h), C.uintptr_t(descriptor), C.uint64_t(layout))
}

func (fast) CloseFile(h uintptr) { C.halo_close_file(C.uintptr_t(h)) }

func (fast) CloseAll() { C.halo_close_all() }
