/*
 * fast_long: accumulates of a few bytes to tens of KiB, of all types and operations, aligned or not,
 * and MPI_Reduce_local.
 *
 *   alone     each process uses memory of its own at each rank, and updates a copy with
 *             MPI_Reduce_local: fetched values and the final memory are the same
 *   together  two threads of each process update the same elements, by long accumulates, single
 *             elements and derived datatypes: no sum is lost, and each value of an element is
 *             fetched once (MPI-5, 12.7.1: accumulates are atomic element by element)
 *
 * fast_long [seed operations [digest]]: with a third argument there are NaNs among the numbers,
 * and rank 0 also prints a digest of all results, which must be the same for fast and slow paths.
 */
#include "check.h"

#include <pthread.h>
#include <stdint.h>

#define BLOCK (80 << 10) /* bytes of each process at each rank; a block crosses borders of stripes */
#define ODD 200          /* an offset that is aligned to no border */
#define LONGEST (70 << 10)
#define LOCAL (300 << 10) /* the longest MPI_Reduce_local */
#define THREADS 2
#define ELEMENTS 20000 /* elements that all threads share */

static uint64_t state, digest = 0xcbf29ce484222325u;
static int nans;
static MPI_Win win;

static uint64_t next(uint64_t *s) {
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s >> 11;
}

static size_t below(size_t n) { return (size_t)(next(&state) % n); }

static void note(const void *p, size_t n) {
	for (size_t i = 0; i < n; i++)
		digest = (digest ^ ((const unsigned char *)p)[i]) * 0x100000001b3u;
}

enum { S1, S2, S4, S8, U1, U2, U4, U8, B1, F4, F8, C8, C16, TYPES };
enum { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, REPLACE, NO_OP, OPS };

static const size_t width[TYPES] = {1, 2, 4, 8, 1, 2, 4, 8, 1, 4, 8, 8, 16};

static MPI_Datatype type_of(int t) {
	MPI_Datatype all[TYPES] = {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_INT64_T, MPI_UINT8_T, MPI_UNSIGNED_SHORT, MPI_UINT32_T, MPI_UNSIGNED_LONG, MPI_BYTE, MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};
	return all[t];
}

static MPI_Op op_of(int o) {
	MPI_Op all[OPS] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_REPLACE, MPI_NO_OP};
	return all[o];
}

static int defined(int o, int t) {
	if (o >= REPLACE)
		return 1;
	if (t == B1)
		return BAND <= o && o <= BXOR;
	return t >= C8 ? o <= PROD : t >= F4 ? o <= MAX : 1;
}

/* Fills memory with random numbers. Floating-point numbers are small integers and, if nans is set,
 * infinities and NaNs of all kinds. */
static void fill(char *p, int t, size_t bytes) {
	for (size_t i = 0; i < bytes; i++)
		p[i] = (char)next(&state);
	if (t < F4)
		return;
	size_t part = t == F4 || t == C8 ? 4 : 8;
	for (size_t i = 0; i < bytes; i += part) {
		double d = (double)(next(&state) % 9) - 4;
		float f = (float)d;
		if (!nans || next(&state) % 16)
			memcpy(p + i, part == 4 ? (void *)&f : (void *)&d, part);
		else
			p[i + part - 1] |= 0x7f, p[i + part - 2] |= (char)(part == 4 ? 0x80 : 0xf0);
	}
}

/* copies: the expected contents of the blocks of this process. */
static char *copies, *values, *olds, *results;

static void combine(char *at, char *with, int n, int t, int o) { /* at = at o with */
	if (o == NO_OP)
		return;
	if (o != REPLACE)
		OK(MPI_Reduce_local(at, with, n, type_of(t), op_of(o)));
	memcpy(at, with, (size_t)n * width[t]);
}

static size_t length(void) {
	static const size_t most[] = {20, 200, 1100, 10000, LONGEST};
	return 1 + below(most[below(5)]);
}

static void alone(void) {
	int target = (int)below((size_t)size), t = (int)below(TYPES), o = (int)below(OPS), fetch = (int)below(3) == 0;
	while (!defined(o, t) || (o == NO_OP && !fetch))
		o = (int)below(OPS);
	int n = (int)(length() / width[t]) + 1;
	size_t bytes = (size_t)n * width[t], at = below(BLOCK - bytes);
	if (below(8)) /* one of eight is misaligned */
		at -= at % width[t];
	char *mine = copies + (size_t)target * BLOCK + at, *from = values + below(3) * width[t], *to = olds + below(3) * width[t];
	MPI_Aint disp = (MPI_Aint)(ODD + (size_t)rank * BLOCK + at);
	fill(from, t, bytes);
	if (t >= F4 && !nans) { /* values of other types might be NaNs */
		fill(mine, t, bytes);
		OK(MPI_Put(mine, (int)bytes, MPI_BYTE, target, disp, (int)bytes, MPI_BYTE, win));
		OK(MPI_Win_flush(target, win));
	}
	memset(to, 0x5a, bytes + 1);
	if (fetch)
		OK(MPI_Get_accumulate(from, n, type_of(t), to, n, type_of(t), target, disp, n, type_of(t), op_of(o), win));
	else
		OK(MPI_Accumulate(from, n, type_of(t), target, disp, n, type_of(t), op_of(o), win));
	OK(MPI_Win_flush(target, win));
	if (fetch) {
		CHECK(!memcmp(to, mine, bytes) && to[bytes] == 0x5a, "fetched: type %d, operation %d, %zu bytes at %zu", t, o, bytes, at);
		note(to, bytes);
	}
	combine(mine, from, n, t, o);
	size_t lo = at < 16 ? at : 16, hi = BLOCK - at - bytes < 16 ? BLOCK - at - bytes : 16; /* bytes around it */
	OK(MPI_Get(results, (int)(lo + bytes + hi), MPI_BYTE, target, disp - (MPI_Aint)lo, (int)(lo + bytes + hi), MPI_BYTE, win));
	OK(MPI_Win_flush(target, win));
	CHECK(!memcmp(results, mine - lo, lo + bytes + hi), "stands there: type %d, operation %d, %zu bytes at %zu", t, o, bytes, at);
	note(results, lo + bytes + hi);
}

/* MPI_Reduce_local of two parts has the result of one call. */
static void local(void) {
	int t = (int)below(TYPES), o = (int)below(LAND + 1);
	while (!defined(o, t))
		o = (int)below(LAND + 1);
	int n = (int)((below(8) ? length() : 1 + below(LOCAL)) / width[t]) + 1, k = (int)below((size_t)n);
	size_t bytes = (size_t)n * width[t], shift = below(3) * width[t] + (below(8) == 0);
	char *in = values + shift, *inout = results + below(2) * 8, *parts = olds;
	fill(in, t, bytes);
	fill(inout, t, bytes);
	memcpy(parts, inout, bytes);
	inout[bytes] = 0x5a;
	OK(MPI_Reduce_local(in, inout, n, type_of(t), op_of(o)));
	for (int from = 0, to; from < n; from = to) {
		to = from < k ? k : n;
		OK(MPI_Reduce_local(in + (size_t)from * width[t], parts + (size_t)from * width[t], to - from, type_of(t), op_of(o)));
	}
	CHECK(!memcmp(inout, parts, bytes) && inout[bytes] == 0x5a, "in one and in two: type %d, operation %d, %d elements, %d of them first", t, o, n, k);
	note(inout, bytes);
}

/* A thread with the sums that it has added to the shared elements, and the sums of fetched values. */
struct worker {
	uint64_t state;
	int operations;
	MPI_Datatype pairs; /* every other element */
	int32_t *added;
	uint64_t *seen;
};

static void *work(void *arg) {
	struct worker *w = arg;
	int32_t *one = malloc(ELEMENTS * sizeof *one), *old = calloc(ELEMENTS, sizeof *old);
	double *number = malloc(ELEMENTS * sizeof *number);
	MPI_Aint numbers = ELEMENTS * (MPI_Aint)sizeof *one;
	for (int i = 0; i < ELEMENTS; i++)
		one[i] = 1, number[i] = 1;
	for (int k = 0; k < w->operations; k++) {
		int kind = (int)(next(&w->state) % 8), n = 1 + (int)(next(&w->state) % (kind < 3 ? LONGEST / 4 : 300)), step = kind == 6 ? 2 : 1;
		int at = next(&w->state) % 2 ? 0 : (int)(next(&w->state) % (uint64_t)(ELEMENTS - n * step + 1)); /* half begin at 0 */
		MPI_Aint disp = ODD + at * (MPI_Aint)sizeof *one;
		if (kind == 7) {
			for (int i = 0; i < n; i++)
				OK(MPI_Fetch_and_op(one, &old[i], MPI_INT32_T, 0, disp + i * (MPI_Aint)sizeof *one, MPI_SUM, win));
		} else if (kind == 6) {
			OK(MPI_Get_accumulate(one, n, MPI_INT32_T, old, n, MPI_INT32_T, 0, disp, n, w->pairs, MPI_SUM, win));
		} else {
			OK(MPI_Get_accumulate(one, n, MPI_INT32_T, old, n, MPI_INT32_T, 0, disp, n, MPI_INT32_T, MPI_SUM, win));
		}
		/* The same for doubles, which nobody fetches. */
		OK(MPI_Accumulate(number, n, MPI_DOUBLE, 0, ODD + numbers + at * (MPI_Aint)sizeof *number, n, MPI_DOUBLE, MPI_SUM, win));
		OK(MPI_Win_flush(0, win));
		for (int i = 0; i < n; i++) {
			w->added[at + i * step]++;
			w->seen[at + i * step] += (uint64_t)old[i];
			w->added[ELEMENTS + at + i]++;
		}
	}
	free(one);
	free(old);
	free(number);
	return NULL;
}

static void together(uint64_t seed, int operations, int threads) {
	struct worker w[THREADS];
	pthread_t t[THREADS];
	char *memory;
	int32_t *added = calloc(2 * ELEMENTS, sizeof *added);
	uint64_t *seen = calloc(ELEMENTS, sizeof *seen);
	OK(MPI_Win_allocate(ODD + ELEMENTS * (MPI_Aint)(sizeof(int32_t) + sizeof(double)), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	memset(memory, 0, ODD + ELEMENTS * (sizeof(int32_t) + sizeof(double)));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock_all(0, win));
	for (int i = 0; i < threads; i++) {
		w[i] = (struct worker){seed + 1000003u * (uint64_t)(rank * THREADS + i + 1), operations, MPI_DATATYPE_NULL, calloc(2 * ELEMENTS, sizeof(int32_t)), calloc(ELEMENTS, sizeof(uint64_t))};
		OK(MPI_Type_create_resized(MPI_INT32_T, 0, 2 * sizeof(int32_t), &w[i].pairs));
		OK(MPI_Type_commit(&w[i].pairs));
		if (i > 0)
			pthread_create(&t[i], NULL, work, &w[i]);
	}
	work(&w[0]);
	for (int i = 0; i < threads; i++) {
		if (i > 0)
			pthread_join(t[i], NULL);
		for (int k = 0; k < 2 * ELEMENTS; k++)
			added[k] += w[i].added[k];
		for (int k = 0; k < ELEMENTS; k++)
			seen[k] += w[i].seen[k];
		OK(MPI_Type_free(&w[i].pairs));
		free(w[i].added);
		free(w[i].seen);
	}
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Allreduce(MPI_IN_PLACE, added, 2 * ELEMENTS, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD));
	OK(MPI_Allreduce(MPI_IN_PLACE, seen, ELEMENTS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
	for (int k = 0; k < ELEMENTS && rank == 0; k++) {
		int32_t sum;
		double number;
		memcpy(&sum, memory + ODD + (size_t)k * sizeof sum, sizeof sum);
		memcpy(&number, memory + ODD + ELEMENTS * sizeof sum + (size_t)k * sizeof number, sizeof number);
		CHECK(sum == added[k], "element %d is %d, not %d", k, (int)sum, (int)added[k]);
		CHECK(seen[k] == (uint64_t)sum * (uint64_t)(sum - (sum > 0)) / 2, "element %d: what was fetched makes %lu", k, (unsigned long)seen[k]);
		CHECK(number == (double)added[ELEMENTS + k], "number %d is %g, not %d", k, number, (int)added[ELEMENTS + k]);
	}
	OK(MPI_Win_unlock(rank, win));
	OK(MPI_Win_free(&win));
	free(added);
	free(seen);
}

int main(int argc, char **argv) {
	int provided, operations = argc > 2 ? atoi(argv[2]) : 500;
	uint64_t seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, all = 0;
	nans = argc > 3;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	state = (seed + 1) * 0x9e3779b97f4a7c15u + 77 * (uint64_t)rank;

	char *memory;
	copies = calloc((size_t)size, BLOCK);
	values = calloc(3, LOCAL + ODD);
	olds = values + LOCAL + ODD;
	results = olds + LOCAL + ODD;
	OK(MPI_Win_allocate(ODD + (MPI_Aint)size * BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	memset(memory, 0, ODD + (size_t)size * BLOCK);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock_all(0, win));
	for (int i = 0; i < operations; i++)
		below(3) ? alone() : local();
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Win_free(&win));
	free(copies);
	free(values);

	together(state, operations, provided == MPI_THREAD_MULTIPLE ? THREADS : 1);
	OK(MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD));
	if (nans && rank == 0)
		printf("%016lx\n", (unsigned long)all);
	return done();
}
