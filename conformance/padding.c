/* BRD-03: the bytes between and behind the members of pairs, and the last six bytes of a long double that is a
 * result, keep what the program has put there: reductions of all forms, MPI_Reduce_local, accumulates, messages,
 * collectives, Put and Get, and files. */
#include "check.h"
#include <stddef.h>
#include <unistd.h>

enum { N = 40, LONGEST = 1500, WIDEST = 32 };

/* A type with gaps: value, and an index unless at is 0, or a second value of a complex number. */
struct kind {
	const char *name;
	MPI_Datatype type;
	int size, value, at, index;
	int computed; /* a reduction computes the value, else it selects an element */
};

static struct kind kinds[6];
static const int forms = 3;

struct short_int { short v; int i; };
struct long_int { long v; int i; };
struct double_int { double v; int i; };
struct long_double_int { long double v; int i; };

static void begin_kinds(void) {
	int x87 = sizeof(long double) == 16 && __LDBL_MANT_DIG__ == 64 ? 10 : (int)sizeof(long double);
	kinds[0] = (struct kind){"MPI_SHORT_INT", MPI_SHORT_INT, sizeof(struct short_int), sizeof(short), offsetof(struct short_int, i), 4, 0};
	kinds[1] = (struct kind){"MPI_LONG_INT", MPI_LONG_INT, sizeof(struct long_int), sizeof(long), offsetof(struct long_int, i), 4, 0};
	kinds[2] = (struct kind){"MPI_DOUBLE_INT", MPI_DOUBLE_INT, sizeof(struct double_int), sizeof(double), offsetof(struct double_int, i), 4, 0};
	kinds[3] = (struct kind){"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, sizeof(struct long_double_int), x87, offsetof(struct long_double_int, i), 4, 0};
	kinds[4] = (struct kind){"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, sizeof(long double), x87, 0, 0, 1};
	kinds[5] = (struct kind){"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double), x87, sizeof(long double), x87, 1};
}

static int is_data(const struct kind *k, int i) {
	i %= k->size;
	return i < k->value || (k->index > 0 && i >= k->at && i < k->at + k->index);
}

/* value is that of element i of a rank. */
static int value(int r, int i) { return 1 + (r * 13 + i * 7) % 11; }

/* put_element stores the data of an element. */
static void put_element(const struct kind *k, unsigned char *e, int v, int index) {
	long double x = v, y = index;
	double d = v;
	long l = v;
	short s = (short)v;
	if (k->type == MPI_SHORT_INT) memcpy(e, &s, sizeof s);
	else if (k->type == MPI_LONG_INT) memcpy(e, &l, sizeof l);
	else if (k->type == MPI_DOUBLE_INT) memcpy(e, &d, sizeof d);
	else memcpy(e, &x, k->value);
	if (k->type == MPI_C_LONG_DOUBLE_COMPLEX) memcpy(e + k->at, &y, k->index);
	else if (k->index > 0) memcpy(e + k->at, &index, 4);
}

/* fill stores n elements of a rank, and a pattern in the gaps. */
static void fill(const struct kind *k, unsigned char *b, int n, int r, int pattern) {
	memset(b, pattern, (size_t)n * k->size);
	for (int i = 0; i < n; i++) put_element(k, b + i * k->size, value(r, i), r);
}

/* reduced stores what a sum, or the place of the minimum, of elements of the ranks from 0 to upto - 1 is. */
static void reduced(const struct kind *k, unsigned char *b, int n, int upto, int first) {
	for (int i = 0; i < n; i++) {
		int v = value(0, first + i), at = 0;
		for (int r = 1; r < upto; r++) {
			int x = value(r, first + i);
			if (k->computed) v += x, at += r;
			else if (x < v) v = x, at = r;
		}
		put_element(k, b + i * k->size, v, at);
	}
}

/* same compares the data of n elements with want, and gaps with a pattern. */
static void same(const struct kind *k, const char *what, const unsigned char *got, const unsigned char *want, int n, int pattern) {
	for (int i = 0; i < n * k->size; i++)
		if (is_data(k, i) ? got[i] != want[i] : got[i] != pattern) {
			CHECK(0, "%s, %s: byte %d of element %d is %#x, not %#x", k->name, what, i % k->size, i / k->size, got[i], is_data(k, i) ? want[i] : pattern);
			return;
		}
}

static unsigned char send[8 * LONGEST * WIDEST], recv[8 * LONGEST * WIDEST], want[8 * LONGEST * WIDEST];

static MPI_Request started(int kind, int form, const void *s, void *r, int n, MPI_Datatype t, MPI_Op o) {
	MPI_Request q = MPI_REQUEST_NULL;
	MPI_Comm c = MPI_COMM_WORLD;
	switch (kind * forms + form) {
	case 0: OK(MPI_Reduce(s, r, n, t, o, 0, c)); break;
	case 1: OK(MPI_Ireduce(s, r, n, t, o, 0, c, &q)); break;
	case 2: OK(MPI_Reduce_init(s, r, n, t, o, 0, c, MPI_INFO_NULL, &q)); break;
	case 3: OK(MPI_Allreduce(s, r, n, t, o, c)); break;
	case 4: OK(MPI_Iallreduce(s, r, n, t, o, c, &q)); break;
	case 5: OK(MPI_Allreduce_init(s, r, n, t, o, c, MPI_INFO_NULL, &q)); break;
	case 6: OK(MPI_Scan(s, r, n, t, o, c)); break;
	case 7: OK(MPI_Iscan(s, r, n, t, o, c, &q)); break;
	case 8: OK(MPI_Scan_init(s, r, n, t, o, c, MPI_INFO_NULL, &q)); break;
	case 9: OK(MPI_Reduce_scatter_block(s, r, n, t, o, c)); break;
	case 10: OK(MPI_Ireduce_scatter_block(s, r, n, t, o, c, &q)); break;
	case 11: OK(MPI_Reduce_scatter_block_init(s, r, n, t, o, c, MPI_INFO_NULL, &q)); break;
	}
	return q;
}

static void reductions(const struct kind *k) {
	MPI_Op o = k->computed ? MPI_SUM : MPI_MINLOC;
	for (int way = 0; way < 4 * forms * 2 * 2; way++) {
		int kind = way % 4, form = way / 4 % forms, in_place = way / 4 / forms % 2, n = way / 8 / forms ? LONGEST : 3;
		int sends = kind == 3 ? n * size : n, has = kind > 0 || rank == 0, upto = kind == 2 ? rank + 1 : size;
		char what[80];
		snprintf(what, sizeof what, "reduction %d, form %d, in place %d, %d elements", kind, form, in_place, n);
		fill(k, send, sends, rank, 0x5a);
		fill(k, recv, n, 7, 0xc3);
		if (in_place) fill(k, recv, sends, rank, 0xc3);
		fill(k, want, n, in_place ? rank : 7, 0);
		if (has) reduced(k, want, n, upto, kind == 3 ? n * rank : 0);
		MPI_Request q = started(kind, form, in_place && has ? MPI_IN_PLACE : send, recv, n, k->type, o);
		if (form == 2) OK(MPI_Start(&q));
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		if (form == 2) OK(MPI_Request_free(&q));
		same(k, what, recv, want, n, 0xc3);
	}
	fill(k, send, N, 0, 0x5a);
	fill(k, recv, N, 1, 0xc3);
	reduced(k, want, N, 2, 0);
	OK(MPI_Reduce_local(send, recv, N, k->type, o));
	same(k, "MPI_Reduce_local", recv, want, N, 0xc3);
}

static void accumulates(const struct kind *k) {
	unsigned char *mem;
	MPI_Win w;
	MPI_Op o = k->computed ? MPI_SUM : MPI_MINLOC;
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	OK(MPI_Win_allocate(N * WIDEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w));
	for (int way = 0; way < 12; way++) {
		int n = way % 2 ? N : 1, call = way / 2 % 3, replaces = way / 6;
		char what[80];
		snprintf(what, sizeof what, "accumulate %d of %d, replaces %d", call, n, replaces);
		fill(k, mem, n, 0, 0xaa);
		fill(k, send, n, 1 + rank, 0x5a);
		fill(k, recv, n, 5, 0xc3);
		OK(MPI_Win_fence(0, w));
		switch (call) {
		case 0: OK(MPI_Accumulate(send, n, k->type, next, 0, n, k->type, replaces ? MPI_REPLACE : o, w)); break;
		case 1: OK(MPI_Get_accumulate(send, n, k->type, recv, n, k->type, next, 0, n, k->type, replaces ? MPI_REPLACE : o, w)); break;
		case 2:
			for (int i = 0; i < n; i++)
				OK(MPI_Fetch_and_op(send + i * k->size, recv + i * k->size, k->type, next, i * k->size, replaces ? MPI_REPLACE : o, w));
		}
		OK(MPI_Win_fence(0, w));
		for (int i = 0; i < n; i++) {
			int v = value(1 + previous, i), at = 1 + previous, mine = value(0, i);
			if (!replaces && k->computed) v += mine;
			else if (!replaces && mine <= v) v = mine, at = 0;
			put_element(k, want + i * k->size, v, at);
		}
		same(k, what, mem, want, n, 0xaa);
		fill(k, want, n, call ? 0 : 5, 0);
		same(k, "the result of an accumulate", recv, want, n, 0xc3);
	}
	OK(MPI_Win_free(&w));
}

/* Nothing of a long double is a gap for a transfer. */
static void transfers(const struct kind *k) {
	unsigned char *mem;
	MPI_Win w;
	MPI_File f;
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	char name[64];
	if (k->index == 0 || k->computed || k->value == 10) return;
	for (int n = 1; n <= LONGEST; n = n == 1 ? N : n == N ? LONGEST : LONGEST + 1) {
		fill(k, send, n, rank, 0x5a);
		fill(k, want, n, previous, 0);
		memset(recv, 0xc3, sizeof recv);
		OK(MPI_Sendrecv(send, n, k->type, next, 1, recv, n, k->type, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		same(k, "MPI_Sendrecv", recv, want, n, 0xc3);
		memset(recv, 0xc3, sizeof recv);
		if (rank == 0) fill(k, recv, n, 0, 0xc3);
		OK(MPI_Bcast(recv, n, k->type, 0, MPI_COMM_WORLD));
		fill(k, want, n, 0, 0);
		same(k, "MPI_Bcast", recv, want, n, 0xc3);
		memset(recv, 0xc3, sizeof recv);
		OK(MPI_Allgather(send, n, k->type, recv, n, k->type, MPI_COMM_WORLD));
		for (int r = 0; r < size; r++) {
			fill(k, want, n, r, 0);
			same(k, "MPI_Allgather", recv + (size_t)r * n * k->size, want, n, 0xc3);
		}
		OK(MPI_Win_allocate((MPI_Aint)n * k->size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w));
		memset(mem, 0xc3, (size_t)n * k->size);
		memset(recv, 0xc3, sizeof recv);
		OK(MPI_Win_fence(0, w));
		OK(MPI_Put(send, n, k->type, next, 0, n, k->type, w));
		OK(MPI_Win_fence(0, w));
		OK(MPI_Get(recv, n, k->type, next, 0, n, k->type, w));
		OK(MPI_Win_fence(0, w));
		fill(k, want, n, previous, 0);
		same(k, "MPI_Put", mem, want, n, 0xc3);
		same(k, "MPI_Get", recv, send, n, 0xc3);
		OK(MPI_Win_free(&w));
		snprintf(name, sizeof name, "/tmp/conformance-padding-%d", (int)getpid());
		OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
		OK(MPI_File_write_at(f, 0, send, n, k->type, MPI_STATUS_IGNORE));
		memset(recv, 0xc3, sizeof recv);
		OK(MPI_File_read_at(f, 0, recv, n, k->type, MPI_STATUS_IGNORE));
		same(k, "MPI_File_read_at", recv, send, n, 0xc3);
		OK(MPI_File_close(&f));
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	begin_kinds();
	for (int i = 0; i < 6; i++) {
		if (i == 4 && kinds[i].value == kinds[i].size) break; /* long double has no gap */
		reductions(&kinds[i]);
		accumulates(&kinds[i]);
		transfers(&kinds[i]);
	}
	return done();
}
