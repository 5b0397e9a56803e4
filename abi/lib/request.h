/*
 * Requests without an object: those of operations that are complete when the call that starts them returns, and those of
 * receives that C has posted.
 *
 * Those of one-sided operations all have one handle, HALO_REQUEST_DONE. Sends to MPI_PROC_NULL have HALO_REQUEST_NOWHERE,
 * which may be cancelled, and receives from there HALO_REQUEST_NOTHING, whose status says so. That of a send to a process
 * contains its number (shmfmt.SentRecord). Such handles are in no table, so that the completing calls do not enter Go. If
 * another call gets one, abi/bind makes a request for it (Lib.undone). The handle of a receive that C has posted contains
 * its number, too (shmfmt.ReceiveRecord), and abi/bind finds the request by it (Lib.receive).
 */
#ifndef HALO_REQUEST_H
#define HALO_REQUEST_H

#include <stdint.h>
#include <string.h>

#include "../include/mpi.h"
#include "copy.h"
#include "fast_layout.h"

#define HALO_REQUEST_DONE ((MPI_Request)0x7f5) /* requestDone of abi/bind */
#define HALO_REQUEST_NOTHING ((MPI_Request)0x7f6) /* requestNothing of abi/bind */
#define HALO_REQUEST_NOWHERE ((MPI_Request)0x7f7) /* requestNowhere of abi/bind */
#define HALO_KIND_SENT 13                      /* kindSent of abi/bind */
#define HALO_KIND_RECEIVED 14                  /* kindReceived of abi/bind */

/* isDone of abi/bind: whether a request is complete and has no object. */
static inline int halo_done(MPI_Request request) {
	uintptr_t h = (uintptr_t)request;
	return (request >= HALO_REQUEST_DONE && request <= HALO_REQUEST_NOWHERE) || ((h & 15) == HALO_KIND_SENT && h >> 4 >= HALO_SENT_FIRST && h >> 4 < (uintptr_t)1 << HALO_SENT_BITS);
}

/* isReceived of abi/bind: whether a request is that of a receive that C has posted. */
static inline int halo_received(MPI_Request request) {
	uintptr_t h = (uintptr_t)request;
	return (h & 15) == HALO_KIND_RECEIVED && h >> 4 < (uintptr_t)1 << HALO_RECEIVE_BITS;
}

/* status.store of abi/bind, for a request that is done, or null: source, tag, the cancelled flag and the number of
 * bytes. */
static inline void halo_done_status(MPI_Request request, MPI_Status *status) {
	if (!HALO_THERE(status))
		return;
	status->MPI_SOURCE = request == HALO_REQUEST_NOTHING ? MPI_PROC_NULL : MPI_ANY_SOURCE;
	status->MPI_TAG = MPI_ANY_TAG;
	memset(status->MPI_internal, 0, 3 * sizeof status->MPI_internal[0]);
}

/* status.store of abi/bind, for a message. */
static inline void halo_store_status(MPI_Status *status, int source, int tag, uint64_t n) {
	if (!HALO_THERE(status))
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
	status->MPI_internal[0] = 0; /* not cancelled */
	memcpy(&status->MPI_internal[1], &n, sizeof n);
}

#endif
