/*
 * The handle tables: the windows, communicators, files and derived datatypes that C knows. Go tells C when a handle begins
 * and ends: see Fast in abi/bind.
 */
#ifndef HALO_HANDLE_TABLE_H
#define HALO_HANDLE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

/* A valid handle and its object. */
struct halo_entry {
	uintptr_t handle; /* stored last, cleared first */
	char *descriptor; /* window: shmfmt.ViewRecord; communicator: shmfmt.SlotState or NULL; type: shmfmt.Type; file: shmfmt.File */
	char *messages;   /* communicator: shmfmt.CommRecord or NULL */
	int rank, size;   /* of a communicator */
	int inter;        /* the communicator is an intercommunicator */
};

/* Entries by the slot number in a handle. Chunks are never freed, so that a lookup needs no lock.
 * abi/bind/handle.go defines the handles. A different format would only cause collisions: of two
 * handles with the same number the table knows the later one. */
#define HALO_CHUNK_SHIFT 10
#define HALO_CHUNKS (1 << (27 - HALO_CHUNK_SHIFT))

struct halo_table {
	struct halo_entry *chunks[HALO_CHUNKS];
	size_t used; /* all chunks from this index on are NULL */
};

HALO_HIDDEN extern struct halo_table halo_wins, halo_comms, halo_files, halo_datatypes; /* halo_datatypes: derived types */

/* The entry of the slot in a handle, or NULL. */
static inline struct halo_entry *halo_slot_entry(struct halo_table *table, uintptr_t handle) {
	size_t number = handle >> 4 & (((size_t)HALO_CHUNKS << HALO_CHUNK_SHIFT) - 1);
	struct halo_entry *chunk = __atomic_load_n(&table->chunks[number >> HALO_CHUNK_SHIFT], __ATOMIC_ACQUIRE);
	return chunk == NULL ? NULL : &chunk[number & ((1 << HALO_CHUNK_SHIFT) - 1)];
}

/* The entry of a valid handle, or NULL. */
static inline struct halo_entry *halo_find(struct halo_table *table, uintptr_t handle) {
	struct halo_entry *e = halo_slot_entry(table, handle);
	return e != NULL && __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE) == handle && handle != 0 ? e : NULL;
}

HALO_HIDDEN extern struct halo_entry halo_world; /* size is 0 before MPI_Init and after MPI_Finalize */

/* The entry of a communicator, or NULL. */
static inline struct halo_entry *halo_comm(MPI_Comm comm) {
	if (comm == MPI_COMM_WORLD)
		return __atomic_load_n(&halo_world.size, __ATOMIC_ACQUIRE) > 0 ? &halo_world : NULL;
	return halo_find(&halo_comms, (uintptr_t)comm);
}

/* The handle whose lower 31 bits are n, 0 if the table does not know it: MPI_X_fromint. */
static inline uintptr_t halo_known(struct halo_table *table, int n) {
	struct halo_entry *e = halo_slot_entry(table, (unsigned)n);
	uintptr_t handle = e == NULL ? 0 : __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE);
	return (handle & 0x7fffffff) == (uintptr_t)n ? handle : 0;
}

/* The shmfmt.ProcessRecord of this process, NULL before MPI_Init and after MPI_Finalize. */
HALO_HIDDEN extern char *halo_process;

/* Go calls these functions, see Fast in abi/bind; calls of one function do not overlap. */
HALO_HIDDEN void halo_open_win(uintptr_t handle, uintptr_t descriptor, uint64_t layout);
HALO_HIDDEN void halo_open_comm(uintptr_t handle, int rank, int size, int inter, uintptr_t slot, uint64_t slot_layout, uintptr_t messages, uint64_t messages_layout);
HALO_HIDDEN void halo_open_type(uintptr_t handle, uintptr_t record, uint64_t layout);
HALO_HIDDEN void halo_close_win(uintptr_t handle);
HALO_HIDDEN void halo_close_comm(uintptr_t handle);
HALO_HIDDEN void halo_open_file(uintptr_t handle, uintptr_t descriptor, uint64_t layout);
HALO_HIDDEN void halo_close_file(uintptr_t handle);
HALO_HIDDEN void halo_close_all(void);

#endif
