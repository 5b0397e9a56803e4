/* The way of a message to or from a member of a communicator, in the records of the engine. */
#ifndef HALO_WAY_H
#define HALO_WAY_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "handle_table.h"
#include "record.h"

/* The PeerRecord of a process of the node. */
static inline char *peer_at(char *peers, int32_t local) { return peers + (int64_t)local * HALO_PEER_BYTES; }

/* What a message travels between. */
struct way {
	struct halo_entry *entry;
	char *comm;    /* its shmfmt.CommRecord */
	char *process; /* the shmfmt.ProcessRecord */
	char *peer;    /* the shmfmt.PeerRecord of the other process */
	int32_t local; /* index of that process in the node */
};

/* Finds the way to a member. Returns 0 if there is none in memory. */
static inline int find_way(struct way *w, MPI_Comm comm, int rank) {
	struct halo_entry *e = w->entry = halo_comm(comm);
	if (e == NULL || (w->comm = e->messages) == NULL || (unsigned)rank >= (unsigned)e->size)
		return 0;
	w->local = ((const int32_t *)POINTER(w->comm, COMM_LOCALS))[rank];
	if (w->local < 0)
		return 0;
	w->process = POINTER(w->comm, COMM_PROCESS);
	w->peer = peer_at(POINTER(w->comm, COMM_PEERS), w->local);
	return 1;
}

/* Whether C may receive messages with a tag: one, or any. */
static inline int may_receive(const struct way *w, int tag) {
	return tag >= 0 || (tag == MPI_ANY_TAG && HALO_LOAD(uint32_t, w->comm, HALO_COMM_ANY_TAG) != 0);
}

#endif
