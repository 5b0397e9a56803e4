#include <sched.h>

#include "shim.h"

/*
 * Short blocking collectives of members that share memory: what the functions of internal/coll
 * do that are named in the comments (slot.go, slot_exchange.go, slot_stream.go, which say why it
 * is right), step by step, in the same structs. A step that has to wait for long does so in Go
 * and then goes on here; an error of that ends the collective, and the use of the slot.
 *
 * As in Go, one thread at a time is in a blocking collective of a communicator.
 */

/* In Go: waits for long until a word is n or more; and wakes the other members. */
extern int haloAwait(uintptr_t comm, void *word, uint64_t n);
extern void haloRing(uintptr_t comm);

_Static_assert(HALO_COPY_LESS <= HALO_SLOT_MOST + 1, "what halo_bytes tells the length of takes one piece or step");

/* A slot as a member sees it. */
struct slot {
	MPI_Comm comm;
	char *at;     /* a coll.slot */
	char *head;   /* its shmfmt.SlotHead */
	char **cells; /* the members' shmfmt.Cell, by rank */
	int rank, size;
};

/* A word of the coll.slot. */
#define WORD(s, place) (*HALO_AT(uint64_t, (s)->at, HALO_SLOT_##place))

/* Leaves the function with the error of a call, if that has one. */
#define TRY(call)                         \
	do {                                  \
		int code_ = (call);               \
		if (code_ != MPI_SUCCESS)         \
			return code_;                 \
	} while (0)

/* Engine.short: whether a communicator has a slot to use. */
static int find_slot(struct slot *s, MPI_Comm comm) {
	struct halo_entry *e = halo_comm(comm);
	if (e == NULL || e->descriptor == NULL || *HALO_AT(uint8_t, e->descriptor, HALO_STATE_BROKEN))
		return 0;
	s->comm = comm;
	s->at = *HALO_AT(char *, e->descriptor, HALO_STATE_SLOT);
	s->head = *HALO_AT(char *, s->at, HALO_SLOT_HEAD);
	s->cells = *HALO_AT(char **, s->at, HALO_SLOT_CELLS);
	s->rank = e->rank;
	s->size = e->size;
	return 1;
}

static void set_kind(struct slot *s, int kind) { *HALO_AT(uint8_t, s->at, HALO_SLOT_KIND) = (uint8_t)kind; }

static int in_cells(struct slot *s) { return *HALO_AT(uint8_t, s->at, HALO_SLOT_FORM) == HALO_FORM_CELLS; }

static uint64_t load(char *word) { return __atomic_load_n((uint64_t *)word, __ATOMIC_SEQ_CST); }

/* shmfmt.Publish */
static void publish(char *word, uint64_t n) { __atomic_store_n((uint64_t *)word, n, __ATOMIC_RELEASE); }

/* slot.await */
static int await(struct slot *s, char *word, uint64_t n) {
	for (int64_t i = *HALO_AT(int64_t, s->at, HALO_SLOT_LOADS); i > 0; i--) {
		if (load(word) >= n)
			return MPI_SUCCESS;
		halo_fence();
	}
	for (int64_t i = *HALO_AT(int64_t, s->at, HALO_SLOT_YIELDS); i > 0; i--) {
		sched_yield();
		if (load(word) >= n)
			return MPI_SUCCESS;
	}
	if (__builtin_expect(!halo_attached, 0))
		halo_attach();
	return haloAwait((uintptr_t)s->comm, word, n);
}

/* slot.wake */
static void wake(struct slot *s) {
	halo_fence();
	if (__atomic_load_n(HALO_AT(uint32_t, s->head, HALO_HEAD_SLEEPERS), __ATOMIC_SEQ_CST) == 0)
		return;
	if (__builtin_expect(!halo_attached, 0))
		halo_attach();
	haloRing((uintptr_t)s->comm);
}

/* slot.gathered */
static int gathered(struct slot *s, uint64_t n) {
	for (int r = 0; r < s->size; r++)
		if (r != s->rank)
			TRY(await(s, s->cells[r] + HALO_CELL_NUMBER, n));
	WORD(s, KNOWN) = n;
	return MPI_SUCCESS;
}

/* slot.settle */
static int settle(struct slot *s) {
	uint64_t before = WORD(s, NUMBER) - 1;
	return WORD(s, KNOWN) < before ? gathered(s, before) : MPI_SUCCESS;
}

/* Whether there is a place for n bytes of each member: the stages Go finds. */
static int has_place(struct slot *s, uint64_t n) { return n <= HALO_SLOT_SHORT || *HALO_AT(char **, s->at, HALO_SLOT_STAGES) != NULL; }

/* slot.data and slot.stage: where a member gives n bytes. */
static char *given(struct slot *s, int r, uint64_t n) {
	uint64_t turn = WORD(s, NUMBER) & 1;
	if (n <= HALO_SLOT_SHORT)
		return s->cells[r] + HALO_CELL_SHORT + turn * HALO_SLOT_SHORT;
	return (*HALO_AT(char **, s->at, HALO_SLOT_STAGES))[r] + turn * HALO_STAGE_BYTES;
}

/* slot.give: see Cell.PutShort for why only whole stores touch the line of what is short. */
static int give(struct slot *s, const void *data, uint64_t n) {
	char *place = given(s, s->rank, n);
	TRY(settle(s));
	if (n > HALO_SLOT_SHORT || n == 8) {
		halo_copy(place, data, n);
	} else {
		char whole[HALO_SLOT_SHORT] = {0};
		memcpy(whole, data, n);
		memcpy(place, whole, sizeof whole);
	}
	publish(s->cells[s->rank] + HALO_CELL_NUMBER, WORD(s, NUMBER));
	return MPI_SUCCESS;
}

/* slot.arrive */
static int arrive(struct slot *s) {
	uint64_t all = ++WORD(s, TURNS) * (uint64_t)s->size;
	return (WORD(s, ABSENT) = all - __atomic_add_fetch(HALO_AT(uint64_t, s->head, HALO_HEAD_ARRIVED), 1, __ATOMIC_SEQ_CST)) == 0;
}

/* slot.release */
static void release(struct slot *s) {
	publish(s->head + HALO_HEAD_RELEASE_NUMBER, WORD(s, TURNS));
	wake(s);
	WORD(s, KNOWN) = WORD(s, NUMBER);
}

/* slot.soon */
static int soon(struct slot *s) {
	uint64_t turns = WORD(s, TURNS), vain;
	if ((int64_t)WORD(s, ABSENT) >= (int64_t)WORD(s, CORES) || turns < WORD(s, HOPE))
		return 0;
	for (int i = 0; i < HALO_SLOT_PATIENCE; i++)
		if (load(s->head + HALO_HEAD_RELEASE_NUMBER) >= turns) {
			WORD(s, VAIN) = 0;
			return 1;
		}
	vain = 2 * WORD(s, VAIN) + 1;
	WORD(s, VAIN) = vain = vain < HALO_SLOT_VAIN_MAX ? vain : HALO_SLOT_VAIN_MAX;
	WORD(s, HOPE) = turns + 1 + vain;
	return 0;
}

/* slot.released */
static int released(struct slot *s) {
	if (!soon(s))
		TRY(await(s, s->head + HALO_HEAD_RELEASE_NUMBER, WORD(s, TURNS)));
	WORD(s, KNOWN) = WORD(s, NUMBER);
	return MPI_SUCCESS;
}

/* slot.meet */
static int meet(struct slot *s) {
	if (in_cells(s)) {
		int code = gathered(s, WORD(s, NUMBER));
		wake(s);
		return code;
	}
	if (!arrive(s))
		return released(s);
	release(s);
	return MPI_SUCCESS;
}

/* slot.barrier */
int halo_coll_barrier(MPI_Comm comm) {
	struct slot s;
	if (!find_slot(&s, comm))
		return HALO_LEFT;
	set_kind(&s, HALO_KIND_BARRIER);
	WORD(&s, NUMBER)++;
	if (in_cells(&s))
		publish(s.cells[s.rank] + HALO_CELL_NUMBER, WORD(&s, NUMBER));
	return meet(&s);
}

/* stream.fits */
static int fits(struct slot *s, uint64_t end, uint64_t passed) {
	const uint64_t *ends = &WORD(s, STREAM_ENDS);
	return WORD(s, STREAM_NUMBER) - passed < HALO_STREAM_TURNS && end - ends[passed % HALO_STREAM_TURNS] <= HALO_STREAM_BYTES;
}

/* slot.room, as far as it does not wait */
static int room(struct slot *s, uint64_t end) {
	if (fits(s, end, WORD(s, STREAM_PASSED)))
		return 1;
	uint64_t low = WORD(s, STREAM_NUMBER);
	for (int r = 0; r < s->size; r++)
		if (r != s->rank) {
			uint64_t passed = load(s->cells[r] + HALO_CELL_PASSED);
			low = passed < low ? passed : low;
		}
	WORD(s, STREAM_PASSED) = low;
	return fits(s, end, low);
}

/* slot.bcast, of one piece */
int halo_coll_bcast(void *buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm) {
	struct slot s;
	uint64_t n = halo_bytes(count, datatype);
	if (n == 0 || n >= HALO_COPY_LESS || !HALO_THERE(buffer) || !find_slot(&s, comm) || (unsigned)root >= (unsigned)s.size)
		return HALO_LEFT;

	/* stream.place */
	uint64_t number = WORD(&s, STREAM_NUMBER) + 1, end = WORD(&s, STREAM_AT);
	char *turn = s.head + HALO_HEAD_TURNS + number % HALO_STREAM_TURNS * HALO_TURN_BYTES, *piece = turn + HALO_TURN_SHORT;
	if (n > HALO_STREAM_SHORT) {
		uint64_t start = end, left = HALO_STREAM_BYTES - start % HALO_STREAM_BYTES;
		if (left < n)
			start += left;
		end = start + ((n + HALO_SLOT_LINE - 1) & ~(uint64_t)(HALO_SLOT_LINE - 1));
		char *bytes = *HALO_AT(char *, s.at, HALO_SLOT_STREAM_BYTES);
		if (bytes == NULL) /* Go finds it */
			return HALO_LEFT;
		piece = bytes + start % HALO_STREAM_BYTES;
	}

	if (root != s.rank) { /* slot.draw */
		set_kind(&s, HALO_KIND_BCAST);
		TRY(await(&s, turn + HALO_TURN_NUMBER, number));
		if (*HALO_AT(volatile uint64_t, turn, HALO_TURN_SIZE) != n)
			return HALO_LEFT; /* nothing has happened yet */
		halo_copy(buffer, piece, n);
	} else if (!room(&s, end)) {
		return HALO_LEFT;
	}

	/* stream.take */
	WORD(&s, STREAM_NUMBER) = number;
	WORD(&s, STREAM_AT) = end;
	(&WORD(&s, STREAM_ENDS))[number % HALO_STREAM_TURNS] = end;

	if (root == s.rank) { /* slot.pour */
		*HALO_AT(uint64_t, turn, HALO_TURN_SIZE) = n;
		halo_copy(piece, buffer, n);
		publish(turn + HALO_TURN_NUMBER, number);
	}
	publish(s.cells[s.rank] + HALO_CELL_PASSED, number); /* slot.pass */
	wake(&s);
	return MPI_SUCCESS;
}

#define EACH(expression)            \
	for (size_t i = 0; i < n; i++)  \
		a[i] = (expression);        \
	return 1

/* Operations on n elements of an integer type, with the results in a. */
#define WHOLE(name, type)                                            \
	static int name(MPI_Op op, type *a, const type *b, size_t n) {   \
		if (op == MPI_SUM) { EACH((type)((uint64_t)a[i] + (uint64_t)b[i])); }  \
		if (op == MPI_PROD) { EACH((type)((uint64_t)a[i] * (uint64_t)b[i])); } \
		if (op == MPI_MIN) { EACH(b[i] < a[i] ? b[i] : a[i]); }      \
		if (op == MPI_MAX) { EACH(a[i] < b[i] ? b[i] : a[i]); }      \
		if (op == MPI_BAND) { EACH((type)(a[i] & b[i])); }           \
		if (op == MPI_BOR) { EACH((type)(a[i] | b[i])); }            \
		EACH((type)(a[i] ^ b[i]));                                   \
	}

/* The same of a floating point type. It fails at a NaN, and where only the sign of a zero tells
 * the two apart: what comes of these, Go knows. */
#define FLOATING(name, type)                                         \
	static int name(MPI_Op op, type *a, const type *b, size_t n) {   \
		int good = 1;                                                \
		for (size_t i = 0; i < n; i++) {                             \
			if (op == MPI_SUM)                                       \
				a[i] = a[i] + b[i];                                  \
			else if (op == MPI_PROD)                                 \
				a[i] = a[i] * b[i];                                  \
			else if (a[i] < b[i])                                    \
				a[i] = op == MPI_MIN ? a[i] : b[i];                  \
			else if (b[i] < a[i])                                    \
				a[i] = op == MPI_MIN ? b[i] : a[i];                  \
			else                                                     \
				good &= memcmp(&a[i], &b[i], sizeof(type)) == 0;     \
			good &= a[i] == a[i];                                    \
		}                                                            \
		return good;                                                 \
	}

WHOLE(combine_s1, int8_t)
WHOLE(combine_s2, int16_t)
WHOLE(combine_s4, int32_t)
WHOLE(combine_s8, int64_t)
WHOLE(combine_u1, uint8_t)
WHOLE(combine_u2, uint16_t)
WHOLE(combine_u4, uint32_t)
WHOLE(combine_u8, uint64_t)
FLOATING(combine_f4, float)
FLOATING(combine_f8, double)

static int combine_short(struct halo_type type, MPI_Op op, void *a, const void *b, size_t n) {
	int is_signed = type.kind == HALO_SIGNED, floating = type.kind == HALO_FLOATING;
	switch (type.size) {
	case 1: return is_signed ? combine_s1(op, a, b, n) : combine_u1(op, a, b, n);
	case 2: return is_signed ? combine_s2(op, a, b, n) : combine_u2(op, a, b, n);
	case 4: return floating ? combine_f4(op, a, b, n) : is_signed ? combine_s4(op, a, b, n) : combine_u4(op, a, b, n);
	}
	return floating ? combine_f8(op, a, b, n) : is_signed ? combine_s8(op, a, b, n) : combine_u8(op, a, b, n);
}

/* flat.combines: whether the operation is one of those above on a type. */
static int combines(MPI_Op op, struct halo_type type) {
	if (type.kind < HALO_SIGNED || (type.kind == HALO_FLOATING && type.size < 4) || type.size > 8 || (type.size & (type.size - 1)) != 0)
		return 0;
	if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
		return type.kind != HALO_FLOATING;
	return op == MPI_SUM || op == MPI_PROD || op == MPI_MIN || op == MPI_MAX;
}

/* Room for what a member gives, for elements of any type. */
union operand {
	char bytes[HALO_SLOT_SHORT];
	uint64_t words[HALO_SLOT_SHORT / 8];
};

/* slot.combine, of operands in a row, or in the cells if that is NULL */
static void combine(struct slot *s, union operand *sum, const char *row, int count, MPI_Datatype datatype, MPI_Op op) {
	struct halo_type type = halo_type(datatype);
	size_t bytes = (size_t)count * type.size;
	union operand next;
	for (int good = 1;; good = 0) {
		memcpy(sum, row != NULL ? row : given(s, 0, bytes), bytes);
		int r = 1;
		for (; r < s->size; r++) {
			memcpy(&next, row != NULL ? row + (size_t)r * HALO_SLOT_SHORT : given(s, r, bytes), bytes);
			if (!good) { /* which knows, from the beginning on: it cannot fail */
				PMPI_Reduce_local(sum, &next, count, datatype, op);
				*sum = next;
			} else if (!combine_short(type, op, sum, &next, (size_t)count)) {
				break;
			}
		}
		if (r == s->size)
			return;
	}
}

/* slot.allreduce, of what is short */
int halo_coll_allreduce(const void *send, void *recv, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
	struct slot s;
	union operand sum;
	uint64_t n = halo_bytes(count, datatype);
	if (n == 0 || n > HALO_SLOT_SHORT || !HALO_THERE(send) || !HALO_THERE(recv) || !halo_apart(send, n, recv, n) ||
	    !combines(op, halo_type(datatype)) || !find_slot(&s, comm))
		return HALO_LEFT;
	set_kind(&s, HALO_KIND_ALLREDUCE);
	WORD(&s, NUMBER)++;
	TRY(give(&s, send, n));
	if (in_cells(&s)) { /* slot.take */
		char *shorts = *HALO_AT(char *, s.at, HALO_SLOT_SHORTS);
		memcpy(shorts + (size_t)s.rank * HALO_SLOT_SHORT, send, n);
		for (int r = 0; r < s.size; r++)
			if (r != s.rank) {
				TRY(await(&s, s.cells[r] + HALO_CELL_NUMBER, WORD(&s, NUMBER)));
				memcpy(shorts + (size_t)r * HALO_SLOT_SHORT, given(&s, r, n), HALO_SLOT_SHORT);
			}
		WORD(&s, KNOWN) = WORD(&s, NUMBER);
		combine(&s, &sum, shorts, (int)count, datatype, op);
		halo_copy(recv, &sum, n);
		wake(&s);
		return MPI_SUCCESS;
	}
	char *result = s.head + HALO_HEAD_RELEASE_DATA;
	if (arrive(&s)) {
		combine(&s, &sum, NULL, (int)count, datatype, op);
		memcpy(result, &sum, n);
		release(&s);
	} else {
		TRY(released(&s));
	}
	halo_copy(recv, result, n);
	return MPI_SUCCESS;
}

/* slot.allgather, in one step */
int halo_coll_allgather(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm) {
	struct slot s;
	uint64_t n = halo_bytes(count, datatype);
	if (n == 0 || n >= HALO_COPY_LESS || count != recv_count || datatype != recv_datatype || !HALO_THERE(send) || !HALO_THERE(recv) ||
	    !find_slot(&s, comm) || !has_place(&s, n) || !halo_apart(send, n, recv, n * (uint64_t)s.size))
		return HALO_LEFT;
	set_kind(&s, HALO_KIND_ALLGATHER);
	WORD(&s, NUMBER)++;
	TRY(give(&s, send, n)); /* slot.exchange */
	TRY(meet(&s));
	for (int r = 0; r < s.size; r++)
		halo_copy((char *)recv + (uint64_t)r * n, r == s.rank ? send : given(&s, r, n), n);
	return MPI_SUCCESS;
}

/* slot.alltoall, in one step */
int halo_coll_alltoall(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recv_count, MPI_Datatype recv_datatype, MPI_Comm comm) {
	struct slot s;
	uint64_t n = halo_bytes(count, datatype), all;
	if (n == 0 || n >= HALO_COPY_LESS || count != recv_count || datatype != recv_datatype || !HALO_THERE(send) || !HALO_THERE(recv) || !find_slot(&s, comm))
		return HALO_LEFT;
	all = n * (uint64_t)s.size;
	if (all >= HALO_COPY_LESS || s.size > HALO_COPY_LESS / HALO_SLOT_LINE || /* few enough for parts of whole blocks */
	    !has_place(&s, all) || !halo_apart(send, all, recv, all))
		return HALO_LEFT;
	set_kind(&s, HALO_KIND_ALLTOALL);
	WORD(&s, NUMBER)++;
	if (all <= HALO_SLOT_SHORT) { /* slot.alltoallShort */
		TRY(give(&s, send, all));
		TRY(meet(&s));
		for (int r = 0; r < s.size; r++)
			halo_copy((char *)recv + (uint64_t)r * n, given(&s, r, all) + (uint64_t)s.rank * n, n);
		return MPI_SUCCESS;
	}
	TRY(settle(&s)); /* slot.begin */
	/* The blocks for those behind a rank stand where its own would. */
	uint64_t before = (uint64_t)s.rank * n, behind = all - before - n;
	memcpy(given(&s, s.rank, all), send, before);
	memcpy(given(&s, s.rank, all) + before, (const char *)send + before + n, behind);
	publish(s.cells[s.rank] + HALO_CELL_NUMBER, WORD(&s, NUMBER)); /* slot.show */
	TRY(meet(&s));
	for (int r = 0; r < s.size; r++) {
		const char *block = r == s.rank ? (const char *)send + before : given(&s, r, all) + (uint64_t)(s.rank - (s.rank > r)) * n;
		halo_copy((char *)recv + (uint64_t)r * n, block, n);
	}
	return MPI_SUCCESS;
}
