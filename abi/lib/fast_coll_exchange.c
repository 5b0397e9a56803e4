#include <string.h>

#include "copy.h"
#include "datatype.h"
#include "fast_coll.h"
#include "fast_slot.h"
#include "record.h"

/*
 * Short exchanges of all members with all, on a slot. The functions do what the functions of
 * internal/coll/slot do that the comments name (exchange.go). fast_coll.c describes errors.
 */

/* Slot.Allgather, in one step, in a call that has entered */
static int allgather(struct slot *s, const void *send, void *recv, uint64_t n) {
	U64(s->at, SLOT_NUMBER)++;
	TRY(give(s, send, n)); /* Slot.exchange */
	TRY(compare(s));
	for (int r = 0; r < s->size; r++)
		halo_copy((char *)recv + (uint64_t)r * n, r == s->rank ? send : given(s, r, n), n);
	return MPI_SUCCESS;
}

int halo_coll_allgather(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm) {
	struct slot s;
	uint64_t n = halo_bytes(recv_count, recv_datatype);
	int in_place = send == MPI_IN_PLACE;
	if (n == 0 || n >= HALO_COPY_LESS || (!in_place && (count != recv_count || datatype != recv_datatype || !HALO_THERE(send))) || !HALO_THERE(recv) ||
	    !find_slot(&s, comm) || !has_place(&s, n))
		return HALO_LEFT;
	if (in_place) /* the own block, which is copied to itself in the end */
		send = (const char *)recv + (uint64_t)s.rank * n;
	else if (!halo_apart(send, n, recv, n * (uint64_t)s.size))
		return HALO_LEFT;
	if (!enter(&s, HALO_KIND_ALLGATHER, HALO_CALL_ALLGATHER))
		return HALO_LEFT;
	return leave(&s, allgather(&s, send, recv, n));
}

/* Slot.Alltoall, in one step, in a call that has entered */
static int alltoall(struct slot *s, const void *send, void *recv, uint64_t n) {
	uint64_t all = n * (uint64_t)s->size;
	U64(s->at, SLOT_NUMBER)++;
	if (all <= HALO_SLOT_SHORT) { /* Slot.alltoallShort */
		TRY(give(s, send, all));
		TRY(compare(s));
		for (int r = 0; r < s->size; r++)
			halo_copy((char *)recv + (uint64_t)r * n, given(s, r, all) + (uint64_t)s->rank * n, n);
		return MPI_SUCCESS;
	}
	TRY(settle(s)); /* Slot.begin */
	state(s, all);
	/* The block for the caller itself is left out, so the blocks for higher ranks move up by one. */
	uint64_t before = (uint64_t)s->rank * n, behind = all - before - n;
	memcpy(given(s, s->rank, all), send, before);
	memcpy(given(s, s->rank, all) + before, (const char *)send + before + n, behind);
	publish(cell(s, s->rank) + HALO_CELL_NUMBER, U64(s->at, SLOT_NUMBER)); /* Slot.show */
	TRY(compare(s));
	for (int r = 0; r < s->size; r++) {
		const char *block = r == s->rank ? (const char *)send + before : given(s, r, all) + (uint64_t)(s->rank - (s->rank > r)) * n;
		halo_copy((char *)recv + (uint64_t)r * n, block, n);
	}
	return MPI_SUCCESS;
}

int halo_coll_alltoall(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm) {
	struct slot s;
	uint64_t n = halo_bytes(count, datatype), all;
	if (n == 0 || n >= HALO_COPY_LESS || count != recv_count || datatype != recv_datatype || !HALO_THERE(send) || !HALO_THERE(recv) || !find_slot(&s, comm))
		return HALO_LEFT;
	all = n * (uint64_t)s.size;
	if (all >= HALO_COPY_LESS || s.size > HALO_COPY_LESS / HALO_SLOT_LINE || /* one step for all blocks */
	    !has_place(&s, all) || !halo_apart(send, all, recv, all) || !enter(&s, HALO_KIND_ALLTOALL, HALO_CALL_ALLTOALL))
		return HALO_LEFT;
	return leave(&s, alltoall(&s, send, recv, n));
}
