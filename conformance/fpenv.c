/*
 * Reductions in floating-point environments other than the default one: every rounding direction,
 * subnormal numbers flushed to zero as in programs that are compiled with -ffast-math, the precision
 * of the x87, and traps. All ranks have the same environment, so that they get the same bits. Where
 * the order of the operands is defined, these are the bits that the caller computes.
 *
 *   fpenv [REPETITIONS]   all of that, with so many repetitions of the shortest allreduce
 *   fpenv traps           calls with all traps enabled; results are exact, so that no sum traps
 *   fpenv callbacks       callbacks run in the environment of the program
 *
 * With MPIX_HANDLE_SYNC in mpi.h it also checks a promise of Halo alone: a reduction that begins in
 * one environment and ends in another one is computed in the first.
 */
#include "check.h"
#include "fpenv.h"

/* The environment of calls between enter and leave. */
static struct words inside;
static const char *where = "";

static void enter(const struct environment *e) {
	where = e->name;
	inside = words_of(e, 0);
	set_words(inside);
}

static void leave(void) {
	struct words now = get_words();
	CHECK(now.main == inside.main && now.x87 == inside.x87, "%s: the environment is %#x %#x, was %#x %#x", where, now.main, now.x87, inside.main, inside.x87);
	set_words(words_of(&environments[0], 0));
}

/* Combines rows of numbers: the reference for the library's results. */
typedef void combiner(void *to, const void *a, const void *b, int n);

#define REFERENCE(name, type)                                                                                             \
	__attribute__((noinline)) static void name##_sum(void *to, const void *a, const void *b, int n) {                       \
		for (int i = 0; i < n; i++) ((type *)to)[i] = (type)(((const type *)a)[i] + ((const type *)b)[i]);                    \
	}                                                                                                                       \
	__attribute__((noinline)) static void name##_prod(void *to, const void *a, const void *b, int n) {                      \
		for (int i = 0; i < n; i++) ((type *)to)[i] = (type)(((const type *)a)[i] * ((const type *)b)[i]);                    \
	}                                                                                                                       \
	__attribute__((noinline)) static void name##_min(void *to, const void *a, const void *b, int n) {                       \
		for (int i = 0; i < n; i++) memcpy((type *)to + i, (const type *)(((const type *)b)[i] < ((const type *)a)[i] ? b : a) + i, sizeof(type)); \
	}                                                                                                                       \
	__attribute__((noinline)) static void name##_max(void *to, const void *a, const void *b, int n) {                       \
		for (int i = 0; i < n; i++) memcpy((type *)to + i, (const type *)(((const type *)b)[i] > ((const type *)a)[i] ? b : a) + i, sizeof(type)); \
	}

REFERENCE(f, float)
REFERENCE(d, double)
REFERENCE(l, long double)
#ifdef __FLT16_MANT_DIG__
REFERENCE(h, _Float16)
#else
#define h_sum NULL
#define h_prod NULL
#define h_min NULL
#define h_max NULL
#endif
#ifdef __SIZEOF_FLOAT128__
REFERENCE(q, __float128)
#elif __LDBL_MANT_DIG__ == 113
#define q_sum l_sum
#define q_prod l_prod
#define q_min l_min
#define q_max l_max
#endif

struct element {
	const char *name;
	MPI_Datatype type;
	const struct format *format;
	int parts;
	combiner *with[4]; /* sum, prod, min, max; NULL: the result is not defined bit by bit */
};

#define REAL(name) {name##_sum, name##_prod, name##_min, name##_max}
#define COMPLEX(name) {name##_sum, NULL, NULL, NULL}

static struct element elements[10];
static int elements_n;

static void add_element(struct element e) {
	char a[64] = {0}, b[64] = {0};
	if (e.type != MPI_DATATYPE_NULL && MPI_Reduce_local(a, b, 1, e.type, MPI_SUM) == MPI_SUCCESS)
		elements[elements_n++] = e;
}

static void find_elements(void) {
	add_element((struct element){"float", MPI_FLOAT, &single, 1, REAL(f)});
	add_element((struct element){"double", MPI_DOUBLE, &twice, 1, REAL(d)});
	add_element((struct element){"long double", MPI_LONG_DOUBLE, __LDBL_MANT_DIG__ == 64 ? &extended : &quadruple, 1, REAL(l)});
	add_element((struct element){"complex float", MPI_C_FLOAT_COMPLEX, &single, 2, COMPLEX(f)});
	add_element((struct element){"complex double", MPI_C_DOUBLE_COMPLEX, &twice, 2, COMPLEX(d)});
	add_element((struct element){"complex long double", MPI_C_LONG_DOUBLE_COMPLEX, __LDBL_MANT_DIG__ == 64 ? &extended : &quadruple, 2, COMPLEX(l)});
	add_element((struct element){"half", MPI_REAL2, &half, 1, REAL(h)});
	add_element((struct element){"complex half", MPI_COMPLEX4, &half, 2, COMPLEX(h)});
	add_element((struct element){"quad", MPI_REAL16, &quadruple, 1, REAL(q)});
	add_element((struct element){"complex quad", MPI_COMPLEX32, &quadruple, 2, COMPLEX(q)});
}

/* The operands of rank r, which every rank can compute. */
static void set_numbers(char *to, const struct element *e, int n, int r, uint64_t seed) {
	state = seed * 1000003 + (uint64_t)r;
	for (int i = 0; i < n * e->parts; i++) set_number(to + i * e->format->bytes, e->format, i, r);
}

enum { most_n = 6000, most_bytes = most_n * 32 };

/* Memory for numbers, aligned for all types. */
static _Alignas(64) char mine[2 * most_bytes], other[2 * most_bytes], got[2 * most_bytes], want[2 * most_bytes], root_has[2 * most_bytes], before[2 * most_bytes];

/* The first index at which two rows of numbers differ, or -1. Padding of a long double is ignored,
 * and with zeros the sign of a zero, too. */
static int differ(const struct element *e, const void *a, const void *b, int n, int zeros) {
	static const char none[16];
	for (int i = 0; i < n * e->parts; i++) {
		const char *x = (const char *)a + i * e->format->bytes, *y = (const char *)b + i * e->format->bytes;
		size_t most = (size_t)e->format->used - 1;
		if (memcmp(x, y, most + 1) != 0 &&
		    !(zeros && memcmp(x, none, most) == 0 && memcmp(y, none, most) == 0 && ((x[most] | y[most]) & 0x7f) == 0)) return i;
	}
	return -1;
}

static const char *hex(const struct element *e, const void *p, int i) {
	static char text[4][48];
	static int turn;
	char *to = text[turn++ % 4];
	for (int k = e->format->used - 1, at = 0; k >= 0; k--) at += sprintf(to + at, "%02x", ((const unsigned char *)p + i * e->format->bytes)[k]);
	return to;
}

/* Computes the result in the caller. */
static void combine(const struct element *e, int op, void *to, const void *a, const void *b, int n) { e->with[op](to, a, b, n * e->parts); }

static const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
static const char *op_names[] = {"sum", "prod", "min", "max"};

/* Compares a result with the expected one. */
static void compare(const char *form, const struct element *e, int op, const void *has, const void *wants, const void *x, const void *y, int n) {
	int i = differ(e, has, wants, n, op > 1);
	CHECK(i < 0, "%s, %s of %s, %d elements: number %d is %s, wanted is %s = %s and %s", where, form, e->name, n, i, hex(e, has, i), hex(e, wants, i), hex(e, x, i), hex(e, y, i));
}

/* Whether the result of the caller is defined: a comparison that treats subnormals as zeros may
 * choose either operand. */
static int defined(const struct environment *in, const struct element *e, int op) { return e->with[op] != NULL && (op < 2 || !in->zeros); }

/* Checks a result of all ranks, or with root the result of rank 0. */
static void check_result(const struct environment *in, const char *form, const struct element *e, int op, int n, int root) {
	struct words keep = get_words();
	char name[80];
	snprintf(name, sizeof name, "%s by %s", form, op_names[op]);
	leave();
	if (size == 2 && defined(in, e, op) && (!root || rank == 0)) compare(name, e, op, got, want, rank == 0 ? mine : other, rank == 0 ? other : mine, n);
	if (!root) {
		memcpy(root_has, got, (size_t)(n * e->parts * e->format->bytes));
		OK(MPI_Bcast(root_has, n * e->parts * e->format->bytes, MPI_BYTE, 0, MPI_COMM_WORLD));
		int i = differ(e, got, root_has, n, 0);
		CHECK(i < 0, "%s, %s of %s, %d elements: number %d is %s, at rank 0 %s", where, name, e->name, n, i, hex(e, got, i), hex(e, root_has, i));
	}
	set_words(keep);
}

static void try_collectives(const struct environment *in, const struct element *e, int op, int n, uint64_t seed) {
	MPI_Request q;
	MPI_Datatype t = e->type;
	int width = e->parts * e->format->bytes;
	set_numbers(mine, e, size * n, rank, seed);
	set_numbers(other, e, size * n, rank == 0 ? 1 : 0, seed);
	enter(in);
	if (defined(in, e, op)) {
		if (rank == 0) combine(e, op, want, mine, other, size * n);
		else combine(e, op, want, other, mine, size * n);
	}

	memcpy(got, other, (size_t)(n * width));
	OK(MPI_Reduce_local(mine, got, n, t, ops[op]));
	if (defined(in, e, op) && rank < 2) {
		if (rank == 1) combine(e, op, want, mine, other, n); /* mine is the left operand */
		struct words keep = get_words();
		leave();
		compare("reduce_local", e, op, got, want, mine, other, n);
		set_words(keep);
		if (rank == 1) combine(e, op, want, other, mine, size * n);
	}

	memset(got, 0x55, (size_t)(n * width));
	OK(MPI_Allreduce(mine, got, n, t, ops[op], MPI_COMM_WORLD));
	check_result(in, "allreduce", e, op, n, 0);
	memcpy(got, mine, (size_t)(n * width));
	OK(MPI_Allreduce(MPI_IN_PLACE, got, n, t, ops[op], MPI_COMM_WORLD));
	check_result(in, "allreduce in place", e, op, n, 0);
	OK(MPI_Iallreduce(mine, got, n, t, ops[op], MPI_COMM_WORLD, &q));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	check_result(in, "iallreduce", e, op, n, 0);
	OK(MPI_Allreduce_init(mine, got, n, t, ops[op], MPI_COMM_WORLD, MPI_INFO_NULL, &q));
	OK(MPI_Start(&q));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	check_result(in, "persistent allreduce", e, op, n, 0);
	OK(MPI_Request_free(&q));
	OK(MPI_Reduce(mine, got, n, t, ops[op], 0, MPI_COMM_WORLD));
	check_result(in, "reduce", e, op, n, 1);
	OK(MPI_Ireduce(mine, got, n, t, ops[op], 0, MPI_COMM_WORLD, &q));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	check_result(in, "ireduce", e, op, n, 1);
	OK(MPI_Reduce_scatter_block(mine, got, n, t, ops[op], MPI_COMM_WORLD));
	OK(MPI_Allgather(got, n, t, before, n, t, MPI_COMM_WORLD)); /* the result of an allreduce */
	memcpy(got, before, (size_t)(size * n * width));
	check_result(in, "reduce_scatter_block", e, op, size * n, 0);
	OK(MPI_Scan(mine, got, n, t, ops[op], MPI_COMM_WORLD));
	if (rank == 1 && defined(in, e, op)) {
		struct words keep = get_words();
		leave();
		compare("scan", e, op, got, want, other, mine, n);
		set_words(keep);
	}
#ifdef MPIX_HANDLE_SYNC
	OK(MPI_Iallreduce(mine, got, n, t, ops[op], MPI_COMM_WORLD, &q));
	leave();
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	enter(in);
	check_result(in, "iallreduce that is waited for elsewhere", e, op, n, 0);
#endif
	leave();
}

/* Accumulates of each rank to a block at the next rank, in windows of both kinds. */
static void try_window(const struct environment *in, MPI_Win win, char *base, const char *kind, const struct element *e, int op, int n, uint64_t seed) {
	int to = (rank + 1) % size, width = e->parts * e->format->bytes;
	char name[80];
	MPI_Request q;
	MPI_Datatype t = e->type;
	OK(MPI_Win_fence(0, win));
	set_numbers(base, e, n, rank + 1, seed);
	set_numbers(other, e, n, to + 1, seed); /* the contents at the target */
	set_numbers(mine, e, n, rank, seed + 17);
	OK(MPI_Win_fence(0, win));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
	enter(in);

	combine(e, op, want, other, mine, n);
	OK(MPI_Accumulate(mine, n, t, to, 0, n, t, ops[op], win));
	OK(MPI_Win_flush(to, win));
	OK(MPI_Get_accumulate(mine, n, t, got, n, t, to, 0, n, t, ops[op], win));
	OK(MPI_Win_flush(to, win));
	snprintf(name, sizeof name, "%s window: accumulate by %s", kind, op_names[op]);
	compare(name, e, op, got, want, other, mine, n);

	memcpy(before, want, (size_t)(n * width));
	combine(e, op, want, before, mine, n);
	OK(MPI_Raccumulate(mine, n, t, to, 0, n, t, ops[op], win, &q));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	OK(MPI_Win_flush(to, win));
	OK(MPI_Get(got, n, t, to, 0, n, t, win));
	OK(MPI_Win_flush(to, win));
	memcpy(before, want, (size_t)(n * width));
	combine(e, op, want, before, mine, n);
	snprintf(name, sizeof name, "%s window: raccumulate by %s", kind, op_names[op]);
	compare(name, e, op, got, want, before, mine, n);

	n = n < 8 ? n : 8; /* single elements */
	memcpy(before, want, (size_t)(n * width));
	for (int i = 0; i < n; i++) OK(MPI_Fetch_and_op(mine + i * width, got + i * width, t, to, (MPI_Aint)i * width, ops[op], win));
	OK(MPI_Win_flush(to, win));
	snprintf(name, sizeof name, "%s window: what fetch_and_op by %s returns", kind, op_names[op]);
	compare(name, e, op, got, before, before, mine, n);
	combine(e, op, want, before, mine, n);
	OK(MPI_Get(got, n, t, to, 0, n, t, win));
	OK(MPI_Win_flush(to, win));
	snprintf(name, sizeof name, "%s window: fetch_and_op by %s", kind, op_names[op]);
	compare(name, e, op, got, want, before, mine, n);
	leave();
	OK(MPI_Win_unlock(to, win));
	OK(MPI_Win_fence(0, win));
}

/* The case of a bug report: the sum of 1 and 1e-20 is not 1 if sums are rounded up. */
static void try_report(int repetitions) {
	static const struct environment up = {"up", 2, 0, 0, 3};
	double one = rank == 0 ? 1.0 : 1e-20, sum = 0, again = 0, expected = size == 2 ? 1 + 0x1p-52 : 0;
	int bad = 0, bad_again = 0;
	MPI_Request q;
	enter(&up);
	for (int i = 0; i < repetitions; i++) {
		OK(MPI_Iallreduce(&one, &again, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q));
		OK(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		if (expected == 0) expected = sum;
		bad += sum != expected;
		bad_again += again != expected;
	}
	leave();
	CHECK(bad == 0, "%d of %d allreduces", bad, repetitions);
	CHECK(bad_again == 0, "%d of %d iallreduces", bad_again, repetitions);
}

/* With all traps enabled the library may not divide by zero, round or overflow, on threads of the
 * program or on its own threads, which start during calls. */
static void try_traps(void) {
	static double numbers[2000], sums[2000];
	struct words w = words_of(&environments[0], 1), now;
	set_words(w);
	for (int i = 0; i < 2000; i++) numbers[i] = 1;
	for (int turn = 0; turn < 60; turn++) {
		MPI_Comm comm;
		MPI_Datatype types[20];
		MPI_Request q[2];
		int next = (rank + 1) % size, last = (rank + size - 1) % size;
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* makes garbage for the collector */
		for (int i = 0; i < 20; i++) {
			int blocks[] = {1, 2, 3}, places[] = {i, i + 5, i + 10};
			OK(MPI_Type_indexed(3, blocks, places, MPI_DOUBLE, &types[i]));
			OK(MPI_Type_commit(&types[i]));
		}
		OK(MPI_Allreduce(numbers, sums, 1 + turn * 30, MPI_DOUBLE, MPI_SUM, comm));
		CHECK(sums[turn] == size, "the sum is %g", sums[turn]);
		OK(MPI_Irecv(sums, 1, types[turn % 20], last, 0, comm, &q[0]));
		OK(MPI_Isend(numbers, 1, types[turn % 20], next, 0, comm, &q[1]));
		OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
		for (int i = 0; i < 20; i++) OK(MPI_Type_free(&types[i]));
		OK(MPI_Comm_free(&comm));
		now = get_words();
		CHECK(now.main == w.main && now.x87 == w.x87, "the environment is %#x %#x, was %#x %#x", now.main, now.x87, w.main, w.x87);
	}
	set_words(words_of(&environments[0], 0));
}

/* The reduction function records the environment in which it is called. */
static struct words seen;
static int calls;

static void see(void *in, void *inout, int *n, MPI_Datatype *type) {
	(void)type;
	seen = get_words();
	calls++;
	for (int i = 0; i < *n; i++) ((double *)inout)[i] += ((double *)in)[i];
}

static void hear(MPI_Comm *comm, int *code, ...) {
	int n;
	(void)code;
	seen = get_words();
	calls++;
	MPI_Comm_size(*comm, &n); /* a call within a call */
}

static void try_callbacks(void) {
	double one = rank == 0 ? 1.0 : 1e-20, sum, local = 1e-20;
	MPI_Op op;
	MPI_Errhandler handler;
	OK(MPI_Op_create(see, 1, &op));
	OK(MPI_Comm_create_errhandler(hear, &handler));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
	for (int i = 0; i < environments_n; i++) {
		enter(&environments[i]);
		calls = 0;
		OK(MPI_Reduce_local(&one, &local, 1, MPI_DOUBLE, op));
		CHECK(calls == 1 && seen.main == inside.main && seen.x87 == inside.x87, "%s: reduce_local: %#x %#x, not %#x %#x", where, seen.main, seen.x87, inside.main, inside.x87);
		calls = 0;
		seen = inside;
		OK(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, op, MPI_COMM_WORLD));
		CHECK(seen.main == inside.main && seen.x87 == inside.x87, "%s: allreduce: %#x %#x, not %#x %#x", where, seen.main, seen.x87, inside.main, inside.x87);
		calls = 0;
		MPI_Send(&one, 1, MPI_DOUBLE, 5, 0, MPI_COMM_SELF);
		CHECK(calls == 1 && seen.main == inside.main && seen.x87 == inside.x87, "%s: handler: %#x %#x, not %#x %#x", where, seen.main, seen.x87, inside.main, inside.x87);
		leave();
	}
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&handler));
	OK(MPI_Op_free(&op));
}

int main(int argc, char **argv) {
	int traps = argc > 1 && strcmp(argv[1], "traps") == 0, callbacks = argc > 1 && strcmp(argv[1], "callbacks") == 0;
	if (traps) set_words(words_of(&environments[0], 1)); /* as Fortran programs may start */
	begin(&argc, &argv);
	if (traps) try_traps();
	if (callbacks) try_callbacks();
	if (traps || callbacks) return done();

	static const int lengths[] = {1, 7, 300, most_n};
	char *base;
	MPI_Win made, given;
	find_elements();
	try_report(argc > 1 ? atoi(argv[1]) : 200);
	OK(MPI_Win_create(malloc(most_bytes), most_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made));
	OK(MPI_Win_allocate(most_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &given));
	void *memory;
	int flag;
	OK(MPI_Win_get_attr(made, MPI_WIN_BASE, &memory, &flag));
	for (int i = 0; i < environments_n; i++)
		for (int k = 0; k < elements_n; k++)
			for (int n = 0; n < 4; n++)
				for (int op = 0; op < (elements[k].parts == 1 ? 4 : 2); op++) {
					const struct element *e = &elements[k];
					uint64_t seed = (uint64_t)(i * 1000 + k * 100 + n * 10 + op);
					int length = lengths[n];
					if (op > 1 && i != 0 && i != 2 && i != 4) continue; /* comparisons do not depend on rounding */
					/* These save time. In long rows of other types than float and double, which take the same ways,
					 * elements are computed one by one: there "up", and the precisions for long double, are enough. */
					if (length == most_n && (op > 1 || (k > 1 && op > 0))) continue;
					if (length == most_n && k > 1 && i != 2 && !(k == 2 && i >= 8)) continue;
					if (length == most_n) length = size > 2 ? most_n / size : most_n;
					try_collectives(&environments[i], e, op, length / (length > 1000 ? 2 : 1), seed);
					if (!defined(&environments[i], e, op)) continue;
					try_window(&environments[i], made, memory, "created", e, op, length, seed);
					try_window(&environments[i], given, base, "allocated", e, op, length, seed);
				}
	OK(MPI_Win_free(&made));
	OK(MPI_Win_free(&given));
	free(memory);
	return done();
}
