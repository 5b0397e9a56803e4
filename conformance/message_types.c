/*
 * message_types: integers that are received as floating-point numbers of one size, and the reverse, are an error
 * of the receive (MPI_ERR_TYPE), which has the data and the status all the same. All other types match, as
 * programs use several names for the same memory. Each pair of types comes by every kind of receive, before and
 * after the message, short and long.
 */
#include "check.h"

#include <stdint.h>

struct named {
	MPI_Datatype type;
	int floats, told; /* floating-point numbers, or made of them; bytes and mixed pairs tell nothing */
};

static struct named types[64];
static int known;

static void add(MPI_Datatype t, int floats, int told) {
	if (t != MPI_DATATYPE_NULL)
		types[known++] = (struct named){t, floats, told};
}

static void all_types(void) {
	MPI_Datatype integers[] = {MPI_CHAR, MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED,
	                           MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT16_T,
	                           MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_WCHAR, MPI_C_BOOL};
	MPI_Datatype floats[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX};
	MPI_Datatype fortran_integers[] = {MPI_INTEGER, MPI_LOGICAL, MPI_INTEGER2, MPI_INTEGER8};
	MPI_Datatype fortran_floats[] = {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_REAL8};
	for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) add(integers[i], 0, 1);
	for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) add(floats[i], 1, 1);
	for (size_t i = 0; i < sizeof fortran_integers / sizeof *fortran_integers; i++) add(fortran_integers[i], 0, 1);
	for (size_t i = 0; i < sizeof fortran_floats / sizeof *fortran_floats; i++) add(fortran_floats[i], 1, 1);
	MPI_Datatype untold[] = {MPI_BYTE, MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_PACKED, MPI_FLOAT_INT};
	for (size_t i = 0; i < sizeof untold / sizeof *untold; i++) add(untold[i], 0, 0);
	MPI_Datatype derived[2];
	MPI_Type_contiguous(1, MPI_INT, &derived[0]);
	MPI_Type_vector(1, 1, 2, MPI_FLOAT, &derived[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Type_commit(&derived[i]);
		add(derived[i], i, 1);
	}
}

static int bytes(MPI_Datatype t) {
	int n;
	MPI_Type_size(t, &n);
	return n;
}

enum { BLOCKING, POSTED, ANY, PERSISTENT, PROBED, MATCHED, SENDRECV, SELF, WAYS };

static char out[1 << 17], in[1 << 17];

/* The code of the receive. The message is there before the receive unless early is set. */
static int receive(int way, int early, int count, MPI_Datatype t, MPI_Status *s) {
	MPI_Request r;
	MPI_Message m;
	int code;
	if (!early)
		MPI_Barrier(MPI_COMM_WORLD); /* behind the send */
	switch (way) {
	case BLOCKING:
		code = MPI_Recv(in, count, t, 0, 5, MPI_COMM_WORLD, s);
		break;
	case POSTED:
	case ANY:
		OK(MPI_Irecv(in, count, t, way == ANY ? MPI_ANY_SOURCE : 0, 5, MPI_COMM_WORLD, &r));
		if (early)
			MPI_Barrier(MPI_COMM_WORLD);
		return MPI_Wait(&r, s);
	case PERSISTENT:
		OK(MPI_Recv_init(in, count, t, 0, 5, MPI_COMM_WORLD, &r));
		OK(MPI_Start(&r));
		if (early)
			MPI_Barrier(MPI_COMM_WORLD);
		code = MPI_Wait(&r, s);
		OK(MPI_Request_free(&r));
		return code;
	case PROBED:
		OK(MPI_Probe(0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		code = MPI_Recv(in, count, t, 0, 5, MPI_COMM_WORLD, s);
		break;
	case MATCHED:
		OK(MPI_Mprobe(0, 5, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
		code = MPI_Mrecv(in, count, t, &m, s);
		break;
	default:
		code = MPI_Sendrecv(out, 0, MPI_BYTE, 0, 6, in, count, t, 0, 5, MPI_COMM_WORLD, s);
	}
	if (early)
		MPI_Barrier(MPI_COMM_WORLD);
	return code;
}

static void one(const struct named *sent, const struct named *wanted, int way, int early, int times) {
	int n = bytes(sent->type) * times, differs = sent->told && wanted->told && sent->floats != wanted->floats && bytes(sent->type) == bytes(wanted->type);
	MPI_Status s;
	if (rank == 0) {
		int posted = early && (way == POSTED || way == ANY || way == PERSISTENT);
		if (posted)
			MPI_Barrier(MPI_COMM_WORLD);
		if (way == SENDRECV)
			OK(MPI_Sendrecv(out, times, sent->type, 1, 5, NULL, 0, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &s));
		else
			OK(MPI_Send(out, times, sent->type, 1, 5, MPI_COMM_WORLD));
		if (!posted)
			MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	int count = bytes(wanted->type) <= n ? n / bytes(wanted->type) : 1, got = -1;
	int whole = count * bytes(wanted->type) == n; /* otherwise the message is truncated, or ends within an element */
	s.MPI_TAG = s.MPI_SOURCE = -1;
	memset(in, 0, 8);
	int code = receive(way, early, count, wanted->type, &s);
	CHECK(s.MPI_TAG == 5 && s.MPI_SOURCE == 0);
	if (!whole)
		return;
	CHECK(class_of(code) == (differs ? MPI_ERR_TYPE : MPI_SUCCESS), ": class %d: %d bytes, by way %d, early %d, types %d, %d", class_of(code), n, way, early, (int)(sent - types), (int)(wanted - types));
	OK(MPI_Get_count(&s, wanted->type, &got));
	CHECK(got == count, ": %d", got);
	CHECK(in[0] == out[0]);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	all_types();
	for (size_t i = 0; i < sizeof out; i++)
		out[i] = (char)(i % 100 + 1);
	for (int a = 0; a < known; a++)
		for (int b = 0; b < known; b++)
			for (int early = 0; early < 2; early++)
				if (early || a % 3 == b % 3) { /* a message that waits takes two barriers */
					int way = (a + b + early) % SELF;
					if (!early && way == SENDRECV)
						way = BLOCKING; /* the other side waits within its call */
					one(&types[a], &types[b], way, early, 1);
					if (a % 4 == b % 3)
						one(&types[a], &types[b], way, 1, (int)sizeof out / 16);
				}
	/* all ways for one pair that differs, and one that does not */
	struct named pairs[][2] = {{{MPI_INT, 0, 1}, {MPI_FLOAT, 1, 1}}, {{MPI_DOUBLE, 1, 1}, {MPI_LONG, 0, 1}}, {{MPI_INT, 0, 1}, {MPI_UNSIGNED, 0, 1}}};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		for (int way = 0; way < SELF; way++)
			for (int early = 0; early < 2; early++)
				for (int times = 1; times <= 8000; times *= 20)
					if (early || way != SENDRECV)
						if (early || times < 400) /* a long message waits for its receive */
							one(&pairs[i][0], &pairs[i][1], way, early, times);
	/* to itself */
	MPI_Request r;
	OK(MPI_Irecv(in, 1, MPI_FLOAT, 0, 1, MPI_COMM_SELF, &r));
	OK(MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
	FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	return done();
}
