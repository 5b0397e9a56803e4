#include "handle_table.h"

#include <stdlib.h>
#include <string.h>

#include "datatype.h"
#include "kernel.h"
#include "record.h"

struct halo_table halo_wins, halo_comms, halo_datatypes, halo_files;
struct halo_entry halo_world;
char *halo_process;

/* Returns the entry for a new handle, or NULL if there is no memory for it. */
static struct halo_entry *open_entry(struct halo_table *table, uintptr_t handle) {
	size_t number = handle >> 4 & (((size_t)HALO_CHUNKS << HALO_CHUNK_SHIFT) - 1);
	struct halo_entry **chunk = &table->chunks[number >> HALO_CHUNK_SHIFT];
	if (*chunk == NULL) {
		struct halo_entry *fresh = calloc(1 << HALO_CHUNK_SHIFT, sizeof *fresh);
		if (fresh == NULL)
			return NULL;
		__atomic_store_n(chunk, fresh, __ATOMIC_RELEASE); /* pairs with the load in halo_find */
		if (table->used <= number >> HALO_CHUNK_SHIFT)
			table->used = (number >> HALO_CHUNK_SHIFT) + 1;
	}
	return &(*chunk)[number & ((1 << HALO_CHUNK_SHIFT) - 1)];
}

/* Opens a handle with a record, if C knows the layout of the record. */
static void open_known(struct halo_table *table, uintptr_t handle, uintptr_t descriptor, int known) {
	struct halo_entry *e;
	if (!known || descriptor == 0 || (e = open_entry(table, handle)) == NULL)
		return;
	e->descriptor = (char *)descriptor;
	__atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE); /* pairs with the load in halo_find */
}

void halo_open_win(uintptr_t handle, uintptr_t descriptor, uint64_t layout) {
	open_known(&halo_wins, handle, descriptor, layout == HALO_LAYOUT);
}

void halo_open_file(uintptr_t handle, uintptr_t descriptor, uint64_t layout) {
	open_known(&halo_files, handle, descriptor, layout == HALO_FILE_LAYOUT);
}

void halo_open_type(uintptr_t handle, uintptr_t record, uint64_t layout) {
	open_known(&halo_datatypes, handle, record, layout == HALO_TYPE_LAYOUT);
}

void halo_open_comm(uintptr_t handle, int rank, int size, int inter, uintptr_t slot, uint64_t slot_layout, uintptr_t messages, uint64_t messages_layout) {
	struct halo_entry *e = handle == (uintptr_t)MPI_COMM_WORLD ? &halo_world : open_entry(&halo_comms, handle);
	if (e == NULL)
		return;
	e->descriptor = slot_layout == HALO_COLL_LAYOUT ? (char *)slot : NULL;
	e->messages = messages_layout == HALO_MESSAGE_LAYOUT ? (char *)messages : NULL;
	if (e->messages != NULL)
		__atomic_store_n(&halo_process, POINTER(e->messages, COMM_PROCESS), __ATOMIC_RELEASE); /* pairs with the load in halo_complete */
	e->rank = rank;
	e->inter = inter;
	__atomic_store_n(&e->size, size, __ATOMIC_RELEASE); /* pairs with the load in halo_comm */
	__atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE); /* pairs with the load in halo_find */
}

static void close_entry(struct halo_table *table, uintptr_t handle) {
	struct halo_entry *e = halo_find(table, handle);
	if (e != NULL)
		__atomic_store_n(&e->handle, 0, __ATOMIC_SEQ_CST);
}

void halo_close_win(uintptr_t handle) { close_entry(&halo_wins, handle); }
void halo_close_comm(uintptr_t handle) { close_entry(&halo_comms, handle); }
void halo_close_file(uintptr_t handle) { close_entry(&halo_files, handle); }

static void close_table(struct halo_table *table) {
	for (size_t i = 0; i < table->used; i++)
		if (table->chunks[i] != NULL)
			for (size_t k = 0; k < 1 << HALO_CHUNK_SHIFT; k++)
				__atomic_store_n(&table->chunks[i][k].handle, 0, __ATOMIC_SEQ_CST);
}

/* Forgets all handles and types: all further calls go to Go, which raises the errors. */
void halo_close_all(void) {
	close_table(&halo_wins);
	close_table(&halo_comms);
	close_table(&halo_datatypes);
	close_table(&halo_files);
	__atomic_store_n(&halo_world.size, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&halo_process, NULL, __ATOMIC_SEQ_CST);
	memset(halo_types, 0, sizeof halo_types);
	memset(halo_kernel_rows, 0, sizeof halo_kernel_rows);
	memset(halo_kernels, 0, sizeof halo_kernels);
}
