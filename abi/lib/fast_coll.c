#include "fast_coll.h"

#include <string.h>

#include "compiler.h"
#include "copy.h"
#include "datatype.h"
#include "environment.h"
#include "fast_combine.h"
#include "fast_slot.h"
#include "record.h"

/*
 * Short blocking collectives of members that share memory. The functions do step by step, in the
 * same records, what the functions of internal/coll/slot do that the comments name; slot.go and
 * stream.go explain why that is correct. A step that has to wait for long waits in Go and then
 * continues here. An error of such a wait ends the collective and the use of the slot.
 *
 * As in Go, only one thread at a time may be in a blocking collective of a communicator: a call
 * enters before it changes anything, and if another call is in the slot, Go raises the error.
 * C tells and compares the lengths of contributions, not types and roots: only checking mode does
 * that, in Go. If lengths differ, Go finds the error.
 */

/* Slot.Barrier */
int halo_coll_barrier(MPI_Comm comm) {
	struct slot s;
	if (!find_slot(&s, comm) || !enter(&s, HALO_KIND_BARRIER, HALO_CALL_BARRIER))
		return HALO_LEFT;
	U64(s.at, SLOT_NUMBER)++;
	if (in_cells(&s))
		publish(cell(&s, s.rank) + HALO_CELL_NUMBER, U64(s.at, SLOT_NUMBER));
	return leave(&s, meet(&s));
}

/* stream.fits */
static int fits(struct slot *s, uint64_t end, uint64_t passed) {
	const uint64_t *ends = &U64(s->at, SLOT_STREAM_ENDS);
	return U64(s->at, SLOT_STREAM_NUMBER) - passed < HALO_STREAM_TURNS && end - ends[passed % HALO_STREAM_TURNS] <= HALO_STREAM_BYTES;
}

/* Slot.room, without waiting */
static int room(struct slot *s, uint64_t end) {
	if (fits(s, end, U64(s->at, SLOT_STREAM_PASSED)))
		return 1;
	uint64_t low = U64(s->at, SLOT_STREAM_NUMBER);
	for (int r = 0; r < s->size; r++)
		if (r != s->rank) {
			uint64_t passed = load(cell(s, r) + HALO_CELL_PASSED);
			low = passed < low ? passed : low;
		}
	U64(s->at, SLOT_STREAM_PASSED) = low;
	return fits(s, end, low);
}

/* Slot.Bcast of one piece, in a call that has entered */
static int bcast(struct slot *s, void *buffer, uint64_t n, int root) {
	/* stream.place */
	uint64_t number = U64(s->at, SLOT_STREAM_NUMBER) + 1, end = U64(s->at, SLOT_STREAM_AT);
	char *turn = s->head + HALO_HEAD_TURNS + number % HALO_STREAM_TURNS * HALO_TURN_BYTES, *piece = turn + HALO_TURN_SHORT;
	if (n > HALO_STREAM_SHORT) {
		uint64_t start = end, left = HALO_STREAM_BYTES - start % HALO_STREAM_BYTES;
		if (left < n)
			start += left;
		end = start + ((n + HALO_SLOT_LINE - 1) & ~(uint64_t)(HALO_SLOT_LINE - 1));
		char *bytes = POINTER(s->at, SLOT_STREAM_MEMORY);
		if (bytes == NULL) /* Go maps it */
			return HALO_LEFT;
		piece = bytes + start % HALO_STREAM_BYTES;
	}

	if (root != s->rank) { /* Slot.receivePieces */
		TRY(await(s, turn + HALO_TURN_NUMBER, number));
		if ((*HALO_AT(volatile uint64_t, turn, HALO_TURN_SIZE) & (((uint64_t)1 << HALO_TURN_BITS) - 1)) != n)
			return HALO_LEFT; /* nothing has happened yet */
		halo_copy(buffer, piece, n);
	} else if (!room(s, end)) {
		return HALO_LEFT;
	}

	/* stream.take */
	U64(s->at, SLOT_STREAM_NUMBER) = number;
	U64(s->at, SLOT_STREAM_AT) = end;
	(&U64(s->at, SLOT_STREAM_ENDS))[number % HALO_STREAM_TURNS] = end;

	if (root == s->rank) { /* Slot.sendPieces */
		U64(turn, TURN_SIZE) = n;
		halo_copy(piece, buffer, n);
		publish(turn + HALO_TURN_NUMBER, number);
	}
	publish(cell(s, s->rank) + HALO_CELL_PASSED, number); /* Slot.pass */
	wake(s);
	return MPI_SUCCESS;
}

int halo_coll_bcast(void *buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm) {
	struct slot s;
	uint64_t n = halo_bytes(count, datatype);
	if (n == 0 || n >= HALO_COPY_LESS || !HALO_THERE(buffer) || !find_slot(&s, comm) || (unsigned)root >= (unsigned)s.size ||
	    !enter(&s, HALO_KIND_BCAST, HALO_CALL_BCAST))
		return HALO_LEFT;
	return leave(&s, bcast(&s, buffer, n, root));
}

/* flat.combines: whether halo_combine does the operation on a type. */
static int combines(MPI_Op op, struct halo_type type) {
	if (type.kind < HALO_SIGNED || (type.kind == HALO_FLOATING && type.size < 4) || type.size > 8 || (type.size & (type.size - 1)) != 0)
		return 0;
	if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
		return type.kind != HALO_FLOATING;
	return op == MPI_SUM || op == MPI_PROD || op == MPI_MIN || op == MPI_MAX;
}

/* The operand of one member, aligned for elements of any type. */
union operand {
	char bytes[HALO_SLOT_SHORT];
	uint64_t words[HALO_SLOT_SHORT / 8];
};

/* Slot.combine. The operands are in row, or in the cells if row is NULL. */
static void combine(struct slot *s, union operand *sum, const char *row, int count, MPI_Datatype datatype, MPI_Op op) {
	struct halo_type type = halo_type(datatype);
	size_t bytes = (size_t)count * type.size;
	union operand next;
	for (int good = 1;; good = 0) {
		memcpy(sum, row != NULL ? row : given(s, 0, bytes), bytes);
		int r = 1;
		for (; r < s->size; r++) {
			memcpy(&next, row != NULL ? row + (size_t)r * HALO_SLOT_SHORT : given(s, r, bytes), bytes);
			if (!good) { /* halo_combine has failed: Go combines from the beginning, and cannot fail */
				PMPI_Reduce_local(sum, &next, count, datatype, op);
				*sum = next;
			} else if (!halo_combine(type.kind, type.size, op, sum, sum, &next, (size_t)count)) {
				break;
			}
		}
		if (r == s->size)
			return;
	}
}

/* Slot.Allreduce of short operands, in a call that has entered. send may be recv, which is stored last. */
static int allreduce(struct slot *s, const void *send, void *recv, uint64_t n, int count, MPI_Datatype datatype, MPI_Op op) {
	union operand sum;
	U64(s->at, SLOT_NUMBER)++;
	TRY(give(s, send, n));
	if (in_cells(s)) { /* Slot.take */
		char *shorts = s->at + HALO_SLOT_SHORTS;
		uint32_t differs = 0;
		memcpy(shorts + (size_t)s->rank * HALO_SLOT_SHORT, send, n);
		for (int r = 0; r < s->size; r++)
			if (r != s->rank) {
				TRY(await(s, cell(s, r) + HALO_CELL_NUMBER, U64(s->at, SLOT_NUMBER)));
				memcpy(shorts + (size_t)r * HALO_SLOT_SHORT, given(s, r, n), HALO_SLOT_SHORT);
				differs |= *said(s, r) ^ s->digest;
			}
		U64(s->at, SLOT_KNOWN) = U64(s->at, SLOT_NUMBER);
		if (HALO_UNLIKELY(differs != 0)) {
			int code = disagreement(s, 0);
			if (code != MPI_SUCCESS) {
				wake(s);
				return code;
			}
		}
		combine(s, &sum, shorts, count, datatype, op);
		halo_copy(recv, &sum, n);
		wake(s);
		return MPI_SUCCESS;
	}
	char *result = s->head + HALO_HEAD_RELEASE_DATA;
	if (arrive(s)) {
		TRY(judge(s, 1));
		combine(s, &sum, NULL, count, datatype, op);
		memcpy(result, &sum, n);
		release(s);
	} else {
		TRY(released(s, 1));
	}
	halo_copy(recv, result, n);
	return MPI_SUCCESS;
}

int halo_coll_allreduce(const void *send, void *recv, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
	struct slot s;
	uint64_t n = halo_bytes(count, datatype);
	int in_place = send == MPI_IN_PLACE;
	if (in_place)
		send = recv;
	if (n == 0 || n > HALO_SLOT_SHORT || !HALO_THERE(send) || !HALO_THERE(recv) || (!in_place && !halo_apart(send, n, recv, n)) ||
	    !combines(op, halo_type(datatype)) || !halo_environment_fits(1) || !find_slot(&s, comm) || !enter(&s, HALO_KIND_ALLREDUCE, HALO_CALL_ALLREDUCE))
		return HALO_LEFT;
	return leave(&s, allreduce(&s, send, recv, n, (int)count, datatype, op));
}
