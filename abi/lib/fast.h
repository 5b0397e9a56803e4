/*
 * The fast paths in C, which do not enter Go: the shortest operations and accumulates of a few KiB
 * on windows whose memory is mapped; short puts and gets by the kernel on unmapped windows of the
 * same host; local reductions, packing, and inquiries that a table answers. A call to Go costs as
 * much as ten of the shortest operations.
 *
 * Each function returns whether it has done all of the call of that name. If it returns 0, it has
 * changed nothing and the call goes to Go: for targets whose memory is not mapped, for types and
 * operations that are not simple, if the call has to wait, and for all errors. Therefore C raises
 * no errors.
 *
 * The functions access records that the engine shares with C (internal/shmfmt), at the offsets of
 * fast_layout.h. They do what the Go functions named in the comments do, with the same memory
 * order: loads and atomic operations of Go are sequentially consistent. Therefore accesses of C
 * and Go are atomic with respect to each other, in one process and between processes.
 *
 * Short collectives also wait, and may fail while they do: see fast_coll.c.
 *
 * Go tells C when a handle of a window, communicator or type begins and ends: see
 * abi/bind/fast.go. With HALO_C_FAST=0 in the environment Go tells C of no handle, and all calls
 * but the clock go to Go.
 */
#ifndef HALO_FAST_H
#define HALO_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../include/mpi.h"
#include "environment.h"
#include "fast_layout.h"

#define HALO_HIDDEN __attribute__((visibility("hidden")))

/* The address of a field, at an offset from fast_layout.h, and a load of the field. */
#define HALO_AT(type, base, place) ((type *)((char *)(base) + (place)))
#define HALO_LOAD(type, base, place) __atomic_load_n(HALO_AT(type, base, place), __ATOMIC_SEQ_CST)

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

static inline struct halo_entry *halo_find(struct halo_table *table, uintptr_t handle) {
	struct halo_entry *e = halo_slot_entry(table, handle);
	return e != NULL && __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE) == handle && handle != 0 ? e : NULL;
}

/* What C may do with elements of a predefined type, see FastKind in abi/bind; 0 if C does not know
 * the type. */
enum halo_kind { HALO_PADDED = 1, HALO_DENSE, HALO_BITS, HALO_SIGNED, HALO_UNSIGNED, HALO_FLOATING };

struct halo_type {
	uint8_t size; /* in bytes, packed */
	uint8_t kind; /* an enum halo_kind; from HALO_DENSE on the layout in memory is the packed form */
	uint8_t extent, true_extent; /* in bytes; both lower bounds are 0 */
	uint8_t code;                /* dtype.Code of messages */
};

HALO_HIDDEN extern struct halo_type halo_types[256]; /* from handle 0x200 on */
static inline struct halo_type halo_type(MPI_Datatype datatype) {
	uintptr_t i = (uintptr_t)datatype - 0x200;
	return i < 256 ? halo_types[i] : (struct halo_type){0, 0, 0, 0, 0};
}

/* The size of count elements, or HALO_COPY_LESS, which is too long for C, if it is not known. */
static inline uint64_t halo_bytes(int64_t count, MPI_Datatype datatype) {
	struct halo_type type = halo_type(datatype);
	return type.kind >= HALO_DENSE && (uint64_t)count < HALO_COPY_LESS ? (uint64_t)count * type.size : HALO_COPY_LESS;
}

/*
 * The kernels that combine elements of a predefined type by a predefined operation: see Kernel in
 * package mpi. Types of one representation share a row, so that the table takes few pages; row 0
 * is for types without kernels.
 */
#define HALO_ROW 16
#define HALO_ROWS 32
HALO_HIDDEN extern uint8_t halo_kernel_rows[256];                   /* from handle 0x200 on */
HALO_HIDDEN extern const void *halo_kernels[HALO_ROWS][HALO_ROW]; /* from handle 0x20 on */

static inline const void *halo_kernel_of(MPI_Datatype datatype, MPI_Op op) {
	uintptr_t i = (uintptr_t)datatype - 0x200, k = (uintptr_t)op - 0x20;
	return i < 256 && k < HALO_ROW ? halo_kernels[halo_kernel_rows[i]][k] : NULL;
}

/* Whether C may call a kernel in the environment of the thread: see halo_environment_fits. */
static inline int halo_kernel_fits(MPI_Op op) { return halo_environment_fits(op == MPI_SUM || op == MPI_PROD); }

/* Whether two pieces of memory do not overlap. */
static inline int halo_apart(const void *a, uint64_t n, const void *b, uint64_t m) {
	return (uintptr_t)a + n <= (uintptr_t)b || (uintptr_t)b + m <= (uintptr_t)a;
}

/* The ViewRecord of a window. */
static inline char *halo_view(MPI_Win win) {
	struct halo_entry *e = halo_find(&halo_wins, (uintptr_t)win);
	return e != NULL ? e->descriptor : NULL;
}

static inline char *halo_window(char *view) { return __atomic_load_n(HALO_AT(char *, view, HALO_VIEW_WINDOW), __ATOMIC_ACQUIRE); }

/* The TargetRecord of a rank, if Go has filled it in: Go stores the field end last. */
static inline char *halo_target(char *window, int rank) {
	if ((uint64_t)(int64_t)rank >= *HALO_AT(uint64_t, window, HALO_WINDOW_RANKS))
		return NULL;
	char *target = *HALO_AT(char *, window, HALO_WINDOW_TARGETS) + (int64_t)rank * HALO_TARGET_BYTES;
	return HALO_LOAD(uint64_t, target, HALO_TARGET_END) != 0 ? target : NULL;
}

/* View.opened: the target of a rank, if the present epoch allows access to it. */
static inline char *halo_opened(char *view, int rank) {
	char *window = halo_window(view), *target = halo_target(window, rank);
	if (target == NULL)
		return NULL;
	uint32_t open = HALO_LOAD(uint32_t, window, HALO_WINDOW_MODE) | HALO_LOAD(uint32_t, target, HALO_TARGET_GATE);
	return open & HALO_GATE_OPEN ? target : NULL;
}

/* Window.admit of the first operation after a fence: it opens the epoch for all targets. */
static inline char *halo_open(char *view, int rank) {
	uint32_t mode = HALO_MODE_FENCE;
	char *window = halo_window(view), *target = halo_target(window, rank);
	return target != NULL && __atomic_compare_exchange_n(HALO_AT(uint32_t, window, HALO_WINDOW_MODE), &mode, HALO_GATE_OPEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
	               ? target
	               : NULL;
}

/* room: the address of n bytes at a displacement, NULL if they are not in the window. */
static inline char *halo_room(char *target, MPI_Aint disp, uint64_t n) {
	if ((uint64_t)disp >= *HALO_AT(uint64_t, target, HALO_TARGET_END))
		return NULL;
	int64_t at = disp * *HALO_AT(int64_t, target, HALO_TARGET_UNIT);
	if ((int64_t)n > *HALO_AT(int64_t, target, HALO_TARGET_LEN) - at)
		return NULL;
	char *mem = *HALO_AT(char *, target, HALO_TARGET_MEM);
	return mem != NULL ? mem + at : NULL;
}

/* A full fence, as fence in Go. On amd64 a locked operation on a cache line of the own stack takes
 * half the time of mfence. It suffices because no copy here uses non-temporal stores. */
static inline void halo_fence(void) {
#if defined __x86_64__
	__asm__ __volatile__("lock; orl $0, -4(%%rsp)" ::: "memory", "cc");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* View.ordered: orders an operation of an ordered view after the operations before it. loads says
 * that the operation begins with a load. */
static inline void halo_ordered(uint32_t how, int loads) {
#if defined __x86_64__
	if (loads && how & HALO_HOW_IN_ORDER)
		halo_fence();
#else
	(void)loads;
	if (how & HALO_HOW_IN_ORDER)
		halo_fence();
#endif
}

static inline void halo_copy(void *to, const void *from, uint64_t n) {
	switch (n) {
	case 1: memmove(to, from, 1); return;
	case 2: memmove(to, from, 2); return;
	case 4: memmove(to, from, 4); return;
	case 8: memmove(to, from, 8); return;
	case 16: memmove(to, from, 16); return;
	}
	memmove(to, from, n);
}

/* The address of n bytes of a target, or NULL if C must not access them. local is the origin's
 * memory. */
static inline char *halo_place(const void *local, uint64_t n, int rank, MPI_Aint disp, MPI_Win win, int loads) {
	char *view, *target, *place;
	if (n >= HALO_COPY_LESS || (uintptr_t)local < HALO_FIRST_PAGE)
		return NULL;
	if ((view = halo_view(win)) == NULL)
		return NULL;
	if ((target = halo_opened(view, rank)) == NULL && (target = halo_open(view, rank)) == NULL)
		return NULL;
	if ((place = halo_room(target, disp, n)) == NULL)
		return NULL;
	halo_ordered(HALO_LOAD(uint32_t, view, HALO_VIEW_HOW), loads);
	return place;
}

/* View.putUnlocked and View.getUnlocked: the kernel copies from or to another process. */
HALO_HIDDEN int halo_kernel_put(const void *origin, uint64_t n, int rank, MPI_Aint disp, MPI_Win win);
HALO_HIDDEN int halo_kernel_get(void *result, uint64_t n, int rank, MPI_Aint disp, MPI_Win win);

/* View.PutBytes */
static inline int halo_fast_put(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win) {
	uint64_t n = halo_bytes(count, datatype);
	if (count != target_count || datatype != target_datatype)
		return 0;
	char *place = halo_place(origin, n, rank, disp, win, 0);
	if (place == NULL)
		return halo_kernel_put(origin, n, rank, disp, win);
	halo_copy(place, origin, n);
	return 1;
}

/* View.GetBytes */
static inline int halo_fast_get(void *result, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win) {
	uint64_t n = halo_bytes(count, datatype);
	if (count != target_count || datatype != target_datatype)
		return 0;
	char *place = halo_place(result, n, rank, disp, win, 1);
	if (place == NULL)
		return halo_kernel_get(result, n, rank, disp, win);
	halo_copy(result, place, n);
	return 1;
}

/* Updates one element: see fast_element.c. old is NULL for an operation that fetches nothing. */
HALO_HIDDEN int halo_update(const void *value, void *old, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win);
HALO_HIDDEN int halo_fast_compare_and_swap(const void *value, const void *compare, void *old, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win);

/* Updates several contiguous elements: see fast_row.c. It does not fetch them if old is NULL. */
HALO_HIDDEN int halo_update_many(const void *values, void *old, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win);

static inline int halo_fast_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	if (count != target_count || datatype != target_datatype || op == MPI_NO_OP)
		return 0;
	return count == 1 ? halo_update(origin, NULL, datatype, rank, disp, op, win)
	                  : halo_update_many(origin, NULL, count, datatype, rank, disp, op, win);
}

static inline int halo_fast_get_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, void *result, int64_t result_count, MPI_Datatype result_datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
	if (count != target_count || count != result_count || datatype != target_datatype || datatype != result_datatype || result == NULL)
		return 0;
	return count == 1 ? halo_update(origin, result, datatype, rank, disp, op, win)
	                  : halo_update_many(origin, result, count, datatype, rank, disp, op, win);
}

static inline int halo_fast_fetch_and_op(const void *origin, void *result, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win) {
	return result != NULL && halo_update(origin, result, datatype, rank, disp, op, win);
}

/* View.Flush, and View.FlushLocal, which does the same here. If no operation went by frames, there
 * is nothing to wait for: the calling process itself has carried out its operations. */
static inline int halo_fast_flush(int rank, MPI_Win win) {
	char *view = halo_view(win);
	if (view == NULL)
		return 0;
	char *window = halo_window(view), *target = halo_target(window, rank);
	if (target == NULL)
		return 0;
	uint32_t locked = (HALO_LOAD(uint32_t, window, HALO_WINDOW_MODE) & HALO_MODE_LOCK_ALL) |
	                  (HALO_LOAD(uint32_t, target, HALO_TARGET_GATE) & HALO_GATE_LOCKED);
	if (!locked || !*HALO_AT(bool, target, HALO_TARGET_NEAR) || HALO_LOAD(uint32_t, target, HALO_TARGET_FRAMED) != 0)
		return 0;
	halo_fence();
	return 1;
}

#include "fast_file.h"
#include "fast_lock.h"
#include "fast_message.h"
#include "fast_integer.h"
#include "fast_request.h"

HALO_HIDDEN extern struct halo_entry halo_world; /* size is 0 before MPI_Init and after MPI_Finalize */

static inline struct halo_entry *halo_comm(MPI_Comm comm) {
	if (comm == MPI_COMM_WORLD)
		return __atomic_load_n(&halo_world.size, __ATOMIC_ACQUIRE) > 0 ? &halo_world : NULL;
	return halo_find(&halo_comms, (uintptr_t)comm);
}

/* Whether an address can be one of memory. Go raises the error for addresses in the first page,
 * which include NULL. */
#define HALO_THERE(address) ((uintptr_t)(address) >= HALO_FIRST_PAGE)

static inline int halo_fast_comm_rank(MPI_Comm comm, int *rank) {
	struct halo_entry *e = halo_comm(comm);
	return e != NULL && HALO_THERE(rank) && (*rank = e->rank, 1);
}

static inline int halo_fast_comm_size(MPI_Comm comm, int *size) {
	struct halo_entry *e = halo_comm(comm);
	return e != NULL && HALO_THERE(size) && (*size = e->size, 1);
}

/* Size, bounds and true bounds of a type. */
struct halo_bounds {
	int64_t size, lb, extent, true_lb, true_extent;
};

/* dtype.Type.Size, Extent and TrueExtent. Returns 0 for an unknown handle. */
static inline int halo_bounds(MPI_Datatype datatype, struct halo_bounds *b) {
	struct halo_type type = halo_type(datatype);
	if (type.size != 0) {
		*b = (struct halo_bounds){type.size, 0, type.extent, 0, type.true_extent};
		return 1;
	}
	struct halo_entry *e = halo_find(&halo_datatypes, (uintptr_t)datatype);
	if (e == NULL)
		return 0;
	const char *t = e->descriptor;
	int64_t lb = *HALO_AT(const int64_t, t, HALO_TYPE_LB), true_lb = *HALO_AT(const int64_t, t, HALO_TYPE_TRUE_LB);
	*b = (struct halo_bounds){*HALO_AT(const int64_t, t, HALO_TYPE_SIZE), lb, *HALO_AT(const int64_t, t, HALO_TYPE_UB) - lb,
	                          true_lb, *HALO_AT(const int64_t, t, HALO_TYPE_TRUE_UB) - true_lb};
	return 1;
}

/* dtype.Type.Commit. For a predefined type there is nothing to do. */
static inline int halo_fast_type_commit(MPI_Datatype *datatype) {
	if (!HALO_THERE(datatype))
		return 0;
	if (halo_type(*datatype).size != 0)
		return 1;
	struct halo_entry *e = halo_find(&halo_datatypes, (uintptr_t)*datatype);
	if (e == NULL)
		return 0;
	__atomic_store_n(HALO_AT(uint32_t, e->descriptor, HALO_TYPE_COMMITTED), 1, __ATOMIC_SEQ_CST);
	return 1;
}

/* For an int and for an MPI_Count. If the size does not fit into an int, the call goes to Go, which
 * stores MPI_UNDEFINED. */
#define halo_fast_type_size(datatype, result) \
	({ \
		struct halo_bounds known; \
		HALO_THERE(result) && halo_bounds(datatype, &known) && (int64_t)(__typeof__(*(result)))known.size == known.size && \
			(*(result) = (__typeof__(*(result)))known.size, 1); \
	})

/* For MPI_Aint and for MPI_Count, which are the same type. */
static inline int halo_fast_type_extent(MPI_Datatype datatype, int64_t *lb, int64_t *extent) {
	struct halo_bounds b;
	if (!HALO_THERE(lb) || !HALO_THERE(extent) || !halo_bounds(datatype, &b))
		return 0;
	*lb = b.lb;
	*extent = b.extent;
	return 1;
}

static inline int halo_fast_type_true_extent(MPI_Datatype datatype, int64_t *lb, int64_t *extent) {
	struct halo_bounds b;
	if (!HALO_THERE(lb) || !HALO_THERE(extent) || !halo_bounds(datatype, &b))
		return 0;
	*lb = b.true_lb;
	*extent = b.true_extent;
	return 1;
}

/*
 * Collectives on a slot: see fast_coll.c. They return the error code, or HALO_LEFT if the call goes
 * to Go and nothing has happened.
 */
#define HALO_LEFT (-1)

HALO_HIDDEN int halo_coll_barrier(MPI_Comm comm);
HALO_HIDDEN int halo_coll_bcast(void *buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm);
HALO_HIDDEN int halo_coll_allreduce(const void *send, void *recv, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
HALO_HIDDEN int halo_coll_allgather(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm);
HALO_HIDDEN int halo_coll_alltoall(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm);

/*
 * Calls a function of Go's assembly with vector instructions (internal/dtype and internal/op). Such
 * functions take words, return nothing, and do not use Go's runtime. Their addresses are NULL if
 * the machine lacks the instructions.
 */
#if defined __x86_64__
HALO_HIDDEN void halo_kernel(const void *function, const uintptr_t words[6]); /* in kernel_amd64.S */
#else
static inline void halo_kernel(const void *function, const uintptr_t words[6]) { (void)function, (void)words; } /* never called */
#endif

/* sys.SweepDown: whether to sweep long memory downwards; the direction alternates. */
HALO_HIDDEN int halo_sweep_down(const void *p);

/* Long operations by kernels: see fast_reduce.c. If old is not NULL, halo_apply copies the former
 * contents of dst to it. */
HALO_HIDDEN void halo_apply(const void *kernel, void *dst, const void *left, const void *right, uint64_t n, void *old);
HALO_HIDDEN void halo_store_whole(void *dst, const void *src, uint64_t n);
HALO_HIDDEN int halo_fast_reduce_local(const void *in, void *inout, int64_t count, MPI_Datatype datatype, MPI_Op op);

/* See fast_pack.c. They return the number of bytes packed or unpacked, or 0 if the call goes to
 * Go. */
HALO_HIDDEN int64_t halo_pack(const void *memory, int64_t count, MPI_Datatype datatype, void *packed, int64_t bytes, int64_t at, MPI_Comm comm);
HALO_HIDDEN int64_t halo_unpack(const void *packed, int64_t bytes, int64_t at, void *memory, int64_t count, MPI_Datatype datatype, MPI_Comm comm);

/* Advances a position, which is an int or an MPI_Count. */
#define HALO_MOVED(position, bytes)                         \
	({                                                      \
		int64_t moved_ = HALO_THERE(position) ? (bytes) : 0; \
		if (moved_ > 0)                                     \
			*(position) += (__typeof__(*(position)))moved_;   \
		moved_ > 0;                                         \
	})
#define halo_fast_pack(memory, count, datatype, packed, bytes, position, comm) \
	HALO_MOVED(position, halo_pack(memory, count, datatype, packed, bytes, *(position), comm))
#define halo_fast_unpack(packed, bytes, position, memory, count, datatype, comm) \
	HALO_MOVED(position, halo_unpack(packed, bytes, *(position), memory, count, datatype, comm))

/* Whether the process runs under valgrind. */
HALO_HIDDEN int halo_on_valgrind(void);

/* Go calls these functions, see Fast in abi/bind; calls of one function do not overlap. */
HALO_HIDDEN void halo_open_win(uintptr_t handle, uintptr_t descriptor, uint64_t layout);
HALO_HIDDEN void halo_open_comm(uintptr_t handle, int rank, int size, int inter, uintptr_t slot, uint64_t slot_layout, uintptr_t messages, uint64_t messages_layout);
HALO_HIDDEN void halo_know_movers(uintptr_t sparse, uintptr_t blocks, uintptr_t string, uintptr_t every_other, uintptr_t gather);
HALO_HIDDEN void halo_know_type(uintptr_t handle, int size, int extent, int true_extent, int kind, int code);
HALO_HIDDEN void halo_know_kernels(uintptr_t datatype, const uintptr_t functions[HALO_ROW]);
HALO_HIDDEN void halo_open_type(uintptr_t handle, uintptr_t record, uint64_t layout);
HALO_HIDDEN void halo_close_win(uintptr_t handle);
HALO_HIDDEN void halo_close_comm(uintptr_t handle);
HALO_HIDDEN void halo_open_file(uintptr_t handle, uintptr_t descriptor, uint64_t layout);
HALO_HIDDEN void halo_close_file(uintptr_t handle);
HALO_HIDDEN void halo_close_all(void);

#endif
