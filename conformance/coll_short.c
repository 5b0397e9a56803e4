/*
 * coll_short: random histories of blocking collectives, most of them short, among others that
 * are long, nonblocking, in place or of derived datatypes at some of the members, with members
 * that are late, on communicators that are made and freed, and on two at once in two threads.
 *
 * coll_short [seed operations [digest]]: with a third argument rank 0 also prints a digest of
 * all results, which must be the same for all algorithms.
 */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#define MOST 40000 /* bytes of a block */
#define MEMBERS 16

/* A history on one communicator. All members have the same shared numbers. */
struct history {
	MPI_Comm comm;
	int me, n, left;
	uint64_t shared, own, digest;
	char *send, *recv, *want;
};

static uint64_t next(uint64_t *s) {
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c) {
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ b * 0xbf58476d1ce4e5b9u ^ c * 0x94d049bb133111ebu;
	h ^= h >> 31;
	return h * 0xff51afd7ed558ccdu >> 13;
}

static void note(struct history *h, const void *p, size_t n) {
	for (size_t i = 0; i < n; i++)
		h->digest = (h->digest ^ ((const unsigned char *)p)[i]) * 0x100000001b3u;
}

enum { S1, S2, S4, S8, U1, U2, U4, U8, F4, F8, TYPES };

static const int width[TYPES] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

static MPI_Datatype type_of(int t) {
	MPI_Datatype all[TYPES] = {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_INT64_T, MPI_UINT8_T, MPI_UNSIGNED_SHORT, MPI_UINT32_T, MPI_UNSIGNED_LONG, MPI_FLOAT, MPI_DOUBLE};
	return all[t];
}

/* Element i of a member in operation id: small, so that all results are exact. */
static long value(uint64_t id, int member, int i, int t) {
	uint64_t v = mix(id, (uint64_t)member, (uint64_t)i);
	if (t >= F4) /* not zero, whose sign in products would depend on the order */
		return v & 1 ? (long)(v >> 1) % 3 + 1 : -((long)(v >> 1) % 3) - 1;
	return U1 <= t && t <= U8 ? (long)(v % 4) : (long)(v % 7) - 3;
}

static void store(void *p, int i, int t, long v) {
	switch (t) {
	case F4: ((float *)p)[i] = (float)v; return;
	case F8: ((double *)p)[i] = (double)v; return;
	}
	memcpy((char *)p + (size_t)i * (size_t)width[t], &v, (size_t)width[t]); /* the low bytes of v */
}

enum { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, OPS };

static MPI_Op op_of(int o) {
	MPI_Op all[OPS] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR};
	return all[o];
}

static long combined(int o, long a, long b) {
	switch (o) {
	case SUM: return a + b;
	case PROD: return a * b;
	case MIN: return a < b ? a : b;
	case MAX: return a > b ? a : b;
	case BAND: return a & b;
	case BOR: return a | b;
	}
	return a ^ b;
}

/* In one of eight calls, makes a contiguous type of count elements and returns 1. */
static int derived(struct history *h, int count, int t, MPI_Datatype *d) {
	if (next(&h->own) % 8)
		return 0;
	MPI_Type_contiguous(count, type_of(t), d);
	MPI_Type_commit(d);
	return 1;
}

static int length(struct history *h, int t) {
	static const int bytes[] = {8, 8, 8, 8, 1, 16, 24, 24, 32, 40, 48, 49, 56, 100, 1000, 8000, 16383, 16384, MOST};
	int n = bytes[next(&h->shared) % (sizeof bytes / sizeof *bytes)] / width[t];
	return n > 0 ? n : 1;
}

static void expect(struct history *h, const char *what, size_t bytes, uint64_t id) {
	note(h, h->recv, bytes);
	CHECK(memcmp(h->recv, h->want, bytes) == 0, "%s of %zu bytes, operation %lu, member %d of %d", what, bytes, (unsigned long)id, h->me, h->n);
}

static void broadcast(struct history *h, uint64_t id) {
	int t = (int)(next(&h->shared) % TYPES), n = length(h, t), root = (int)(next(&h->shared) % (uint64_t)h->n);
	MPI_Datatype d;
	for (int i = 0; i < n; i++)
		store(h->want, i, t, value(id, root, i, t));
	memset(h->recv, 0x5a, (size_t)n * (size_t)width[t]);
	if (h->me == root)
		memcpy(h->recv, h->want, (size_t)n * (size_t)width[t]);
	if (derived(h, n, t, &d)) {
		OK(MPI_Bcast(h->recv, 1, d, root, h->comm));
		MPI_Type_free(&d);
	} else {
		OK(MPI_Bcast(h->recv, n, type_of(t), root, h->comm));
	}
	expect(h, "bcast", (size_t)n * (size_t)width[t], id);
}

/* By kind: Allreduce, Iallreduce, Reduce, and Scan. */
static void reduction(struct history *h, uint64_t id, int kind) {
	int t = (int)(next(&h->shared) % TYPES), n = length(h, t), root = (int)(next(&h->shared) % (uint64_t)h->n);
	int o = (int)(next(&h->shared) % (t >= F4 ? BAND : OPS)), members = kind == 3 ? h->me + 1 : h->n;
	size_t bytes = (size_t)n * (size_t)width[t];
	if (bytes > 1000)
		n = 1000 / width[t], bytes = (size_t)n * (size_t)width[t];
	if (next(&h->shared) % 2)
		n = 1 + n % (24 / width[t]), bytes = (size_t)n * (size_t)width[t];
	for (int i = 0; i < n; i++) {
		long v = value(id, 0, i, t);
		for (int r = 1; r < members; r++)
			v = combined(o, v, value(id, r, i, t));
		store(h->want, i, t, v);
		store(h->send, i, t, value(id, h->me, i, t));
	}
	memset(h->recv, 0x5a, bytes);
	int in_place = kind != 2 && next(&h->own) % 8 == 0;
	const void *send = in_place ? MPI_IN_PLACE : h->send;
	if (in_place)
		memcpy(h->recv, h->send, bytes);
	MPI_Request q;
	switch (kind) {
	case 0: OK(MPI_Allreduce(send, h->recv, n, type_of(t), op_of(o), h->comm)); break;
	case 1:
		OK(MPI_Iallreduce(send, h->recv, n, type_of(t), op_of(o), h->comm, &q));
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		break;
	case 2: OK(MPI_Reduce(send, h->recv, n, type_of(t), op_of(o), root, h->comm)); break;
	default: OK(MPI_Scan(send, h->recv, n, type_of(t), op_of(o), h->comm));
	}
	if (kind != 2 || h->me == root)
		expect(h, kind == 2 ? "reduce" : "allreduce", bytes, id);
}

/* Reductions whose results contain NaNs and zeros. The standard does not define which of several NaNs
 * or zeros results, but the digest must be the same for all algorithms. */
static void odd_numbers(struct history *h) {
	static const uint64_t bits[] = {0, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001, 0xfff8000000000002, 0x7ff0000000000003, 0x3ff8000000000000, 1};
	static const uint32_t bits4[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc00002, 0x7f800003, 0x3fc00000, 1};
	uint64_t mine[3], got[3] = {0}, id = next(&h->shared);
	uint32_t mine4[6], got4[6] = {0};
	int o = (int)(id >> 7) & 3, span = id >> 20 & 1 ? 9 : 4;
	for (int i = 0; i < 6; i++) {
		uint64_t k = mix(id, (uint64_t)h->me, (uint64_t)i) % (uint64_t)span;
		mine4[i] = bits4[k];
		mine[i % 3] = bits[k];
	}
	OK(MPI_Allreduce(mine, got, 3, MPI_DOUBLE, op_of(o), h->comm));
	OK(MPI_Allreduce(mine4, got4, 6, MPI_FLOAT, op_of(o), h->comm));
	note(h, got, sizeof got);
	note(h, got4, sizeof got4);
}

static void blocks(struct history *h, uint64_t id, int all) {
	int t = (int)(next(&h->shared) % TYPES), n = length(h, t);
	size_t bytes = (size_t)n * (size_t)width[t];
	MPI_Datatype d;
	int parts = all ? h->n : 1;
	for (int r = 0; r < h->n; r++)
		for (int i = 0; i < n; i++) {
			store(h->want, r * n + i, t, value(id, r, all ? h->me * n + i : i, t));
			if (r < parts)
				store(h->send, r * n + i, t, value(id, h->me, r * n + i, t));
		}
	memset(h->recv, 0x5a, bytes * (size_t)h->n);
	int in_place = next(&h->own) % 8 == 0 && !all;
	if (in_place) {
		memcpy(h->recv + (size_t)h->me * bytes, h->send, bytes);
		OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, h->recv, n, type_of(t), h->comm));
	} else if (derived(h, n, t, &d)) {
		OK(all ? MPI_Alltoall(h->send, 1, d, h->recv, n, type_of(t), h->comm) : MPI_Allgather(h->send, n, type_of(t), h->recv, 1, d, h->comm));
		MPI_Type_free(&d);
	} else {
		OK(all ? MPI_Alltoall(h->send, n, type_of(t), h->recv, n, type_of(t), h->comm) : MPI_Allgather(h->send, n, type_of(t), h->recv, n, type_of(t), h->comm));
	}
	expect(h, all ? "alltoall" : "allgather", bytes * (size_t)h->n, id);
}

/* A barrier, sometimes a nonblocking one. */
static void meet(struct history *h, uint64_t id) {
	(void)id;
	if (next(&h->shared) % 16) {
		OK(MPI_Barrier(h->comm));
		return;
	}
	MPI_Request q;
	OK(MPI_Ibarrier(h->comm, &q));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
}

static void run(struct history *h, int operations);

/* A history on a new communicator, a duplicate or with members in another order, which is freed
 * afterwards. */
static void apart(struct history *h) {
	struct history part = *h;
	int kind = (int)(next(&h->shared) % 3);
	part.left--;
	if (kind == 0) {
		OK(MPI_Comm_dup(h->comm, &part.comm));
	} else {
		int color = kind == 1 ? h->me % 2 : 0;
		OK(MPI_Comm_split(h->comm, color, -h->me, &part.comm));
		part.shared = mix(h->shared, (uint64_t)color, 1) | 1;
	}
	MPI_Comm stale = part.comm;
	OK(MPI_Comm_rank(part.comm, &part.me));
	OK(MPI_Comm_size(part.comm, &part.n));
	run(&part, 30);
	h->own = part.own;
	h->digest = part.digest;
	OK(MPI_Comm_free(&part.comm));
	CHECK(part.comm == MPI_COMM_NULL && stale != MPI_COMM_NULL);
}

static void run(struct history *h, int operations) {
	for (int k = 0; k < operations; k++) {
		uint64_t id = next(&h->shared);
		switch (next(&h->own) % 256) {
		case 0: usleep((useconds_t)(next(&h->own) % 400)); break;
		case 1: case 2: case 3: case 4: sched_yield(); break;
		case 5: for (volatile int i = 0; i < 3000; i++); break;
		}
		switch (id >> 40 & 31) {
		case 0: case 1: case 2: case 3: case 4: case 5: meet(h, id); break;
		case 6: case 7: case 8: case 9: case 10: case 11: case 12: broadcast(h, id); break;
		case 13: case 14: case 15: case 16: case 17: case 18: case 19: reduction(h, id, 0); break;
		case 20: reduction(h, id, 1); break;
		case 21: case 22: reduction(h, id, 2); break;
		case 23: reduction(h, id, 3); break;
		case 24: case 25: blocks(h, id, 0); break;
		case 26: case 27: blocks(h, id, 1); break;
		case 28: case 29: odd_numbers(h); break;
		default:
			if (h->left > 0 && (id >> 50 & 15) == 0)
				apart(h);
			else
				reduction(h, id, 0);
		}
	}
}

struct task { struct history h; int operations; };

static void *work(void *task) {
	struct task *t = task;
	run(&t->h, t->operations);
	return NULL;
}

static struct task make(MPI_Comm over, uint64_t seed, int operations) {
	struct task t = {{.me = rank, .n = size, .left = 1, .shared = seed | 1, .own = mix(seed, 77, (uint64_t)rank) | 1}, operations};
	OK(MPI_Comm_dup(over, &t.h.comm));
	t.h.send = malloc((size_t)MOST * MEMBERS);
	t.h.recv = malloc((size_t)MOST * MEMBERS);
	t.h.want = malloc((size_t)MOST * MEMBERS);
	return t;
}

static uint64_t drop(struct task *t) {
	MPI_Comm_free(&t->h.comm);
	free(t->h.send);
	free(t->h.recv);
	free(t->h.want);
	return t->h.digest;
}

int main(int argc, char **argv) {
	int provided, operations = argc > 2 ? atoi(argv[2]) : 500;
	uint64_t seed = mix(argc > 1 ? strtoul(argv[1], NULL, 10) : 1, 3, 5), digest, all = 0;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

	struct task first = make(MPI_COMM_WORLD, seed, operations), other = make(MPI_COMM_WORLD, seed + 1000, operations / 4);
	run(&first.h, operations);
	first.operations = operations / 4;
	if (provided == MPI_THREAD_MULTIPLE) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, &other);
		work(&first);
		pthread_join(thread, NULL);
	} else {
		work(&first);
		work(&other);
	}
	digest = drop(&first) ^ mix(drop(&other), 1, 2);
	OK(MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD));
	if (argc > 3 && rank == 0)
		printf("%016lx\n", (unsigned long)all);
	return done();
}
