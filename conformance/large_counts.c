/* Counts and displacements beyond 2^31 and 2^32 in the forms with large counts (X-CNT-01): a message of more than
 * 3 GiB, a message of a derived type of 2^33 elements, MPI_Alltoallv_c, operations, and packed data behind 4 GiB,
 * where other implementations lose the upper half of a position (X-CONF-01, ompi#13991). Two processes exchange data;
 * one process does what needs no other. The memory of each process is a few MiB, which are mapped again and again. */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#define GIB ((MPI_Count)1 << 30)
#define PART ((MPI_Count)2 << 20) /* bytes of a part of long memory */

/* long_memory returns size bytes, zero at first. All parts of it are the same memory, except those that contain a byte
 * of apart: each of these has memory of its own. It exists until the process ends. The flag MAP_POPULATE maps all pages
 * at once, which takes less time than a page fault for each of them. */
static unsigned char *long_memory(MPI_Count size, int flags, int n, const MPI_Count *apart) {
	MPI_Count parts = (size + PART - 1) / PART, next = 1;
	int fd = memfd_create("large_counts", 0);
	unsigned char *all = mmap(NULL, (size_t)(parts * PART), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fd < 0 || ftruncate(fd, (n + 1) * PART) != 0 || all == MAP_FAILED) {
		perror("large_counts");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (MPI_Count p = 0; p < parts; p++) {
		MPI_Count from = 0;
		for (int k = 0; k < n && from == 0; k++)
			if (apart[k] / PART == p) from = PART * next++;
		if (mmap(all + p * PART, (size_t)PART, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | flags, fd, from) == MAP_FAILED) {
			perror("large_counts");
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	close(fd);
	return all;
}

/* The byte at an offset of what rank 0 sends: the parts of a pattern are the same. */
static unsigned char pattern(MPI_Count at) { return (unsigned char)(at % PART % 251); }

/* A status of count bytes, which no int holds. */
static void counted(MPI_Status *s, MPI_Count count) {
	MPI_Count got = -1;
	int n = 0;
	OK(MPI_Get_count_c(s, MPI_BYTE, &got));
	CHECK(got == count, "%lld bytes", (long long)got);
	OK(MPI_Get_count(s, MPI_BYTE, &n));
	CHECK(n == MPI_UNDEFINED, "%d bytes", n);
	OK(MPI_Get_elements_c(s, MPI_BYTE, &got));
	CHECK(got == count, "%lld elements", (long long)got);
}

/* A message of more than 3 GiB, with other bytes on both sides of 2^31. */
static void message(void) {
	const MPI_Count bytes = 3 * GIB + 5, marks[] = {0, INT_MAX, (MPI_Count)INT_MAX + 1, bytes - 1};
	enum { MARKS = sizeof marks / sizeof *marks };
	unsigned char *b = long_memory(bytes, 0, MARKS, marks);
	if (rank == 0) {
		for (MPI_Count k = 0; k < PART; k++) b[PART + k] = pattern(k);
		for (int k = 0; k < MARKS; k++) b[marks[k]] = (unsigned char)(k + 1);
		OK(MPI_Send_c(b, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
	} else if (rank == 1) {
		MPI_Status s;
		OK(MPI_Probe(0, 1, MPI_COMM_WORLD, &s));
		counted(&s, bytes);
		OK(MPI_Recv_c(b, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &s));
		counted(&s, bytes);
		for (int k = 0; k < MARKS; k++) CHECK(b[marks[k]] == k + 1, "byte %lld is %d", (long long)marks[k], b[marks[k]]);
		for (MPI_Count k = 0; k < PART; k++) CHECK(b[PART + k] == pattern(k), "byte %lld is %d", (long long)(PART + k), b[PART + k]);
	}
}

/* A process sends itself one element of a type that has 2^33 bytes: 4096 times the same 2 MiB. */
static void derived(void) {
	const MPI_Count elements = 8 * GIB, last = elements - 1;
	MPI_Datatype all, same;
	MPI_Count n = -1, low = -1, extent = -1;
	MPI_Status s;
	int few = 0;
	OK(MPI_Type_contiguous_c(elements, MPI_BYTE, &all));
	OK(MPI_Type_create_hvector_c(elements / PART, PART, 0, MPI_BYTE, &same));
	OK(MPI_Type_commit(&all));
	OK(MPI_Type_commit(&same));
	OK(MPI_Type_size_c(all, &n));
	CHECK(n == elements, "%lld bytes", (long long)n);
	OK(MPI_Type_size_c(same, &n));
	CHECK(n == elements, "%lld bytes", (long long)n);
	OK(MPI_Type_size(all, &few));
	CHECK(few == MPI_UNDEFINED, "%d bytes", few);
	OK(MPI_Type_get_extent_c(all, &low, &extent));
	CHECK(low == 0 && extent == elements, "from %lld, %lld bytes", (long long)low, (long long)extent);
	OK(MPI_Type_get_extent_c(same, &low, &extent));
	CHECK(low == 0 && extent == PART, "from %lld, %lld bytes", (long long)low, (long long)extent);
	unsigned char *from = long_memory(PART, 0, 0, NULL), *to = long_memory(elements, MAP_POPULATE, 1, &last);
	for (MPI_Count k = 0; k < PART; k++) from[k] = pattern(k);
	OK(MPI_Sendrecv_c(from, 1, same, 0, 2, to, 1, all, 0, 2, MPI_COMM_SELF, &s));
	counted(&s, elements);
	OK(MPI_Get_count_c(&s, all, &n));
	CHECK(n == 1, "%lld elements of the type", (long long)n);
	OK(MPI_Get_elements_c(&s, all, &n));
	CHECK(n == elements, "%lld basic elements", (long long)n);
	OK(MPI_Get_elements(&s, all, &few));
	CHECK(few == MPI_UNDEFINED, "%d basic elements", few);
	for (MPI_Count k = 0; k < PART; k++)
		CHECK(to[k] == pattern(k) && to[elements - PART + k] == pattern(k), "byte %lld of a part is %d, at the end %d", (long long)k, to[k], to[elements - PART + k]);
	OK(MPI_Type_free(&all));
	OK(MPI_Type_free(&same));
}

/* Rank 0 sends more than 2^31 bytes to rank 1, and all other blocks are short; most of them are behind 2^32 bytes. */
static void exchange(void) {
	const MPI_Count bytes = 2 * GIB + 7, far = 4 * GIB, room = far + 4096;
	const MPI_Count out_counts[] = {5, rank == 0 ? bytes : 5}, in_counts[] = {rank == 0 ? 5 : bytes, 5};
	const MPI_Aint out_at[] = {far + 100, rank == 0 ? 1 : far + 200}, in_at[] = {rank == 0 ? far + 300 : 2 * GIB + 50, rank == 0 ? 7 : far + 1000};
	const MPI_Count marks[] = {out_at[0], out_at[1], out_at[1] + out_counts[1] - 1}, got[] = {in_at[0], in_at[0] + in_counts[0] - 1, in_at[1]};
	unsigned char *out = long_memory(room, 0, 3, marks), *in = long_memory(room, 0, 3, got);
	for (int to = 0; to < 2; to++) { /* the first and the last byte of each block */
		out[out_at[to]] = (unsigned char)(10 * rank + to + 1);
		out[out_at[to] + out_counts[to] - 1] = (unsigned char)(10 * rank + to + 101);
	}
	OK(MPI_Alltoallv_c(out, out_counts, out_at, MPI_BYTE, in, in_counts, in_at, MPI_BYTE, MPI_COMM_WORLD));
	for (int from = 0; from < 2; from++) {
		int first = in[in_at[from]], end = in[in_at[from] + in_counts[from] - 1];
		CHECK(first == 10 * from + rank + 1 && end == 10 * from + rank + 101, "from %d: %d to %d", from, first, end);
	}
}

static MPI_Count combined; /* elements that functions of operations have got */

static void combine(void *in, void *inout, int *n, MPI_Datatype *t) {
	(void)in, (void)inout, (void)t;
	CHECK(*n > 0, "%d elements", *n);
	combined += *n;
}

static void combine_large(void *in, void *inout, MPI_Count *n, MPI_Datatype *t) {
	(void)in, (void)inout, (void)t;
	CHECK(*n > 0, "%lld elements", (long long)*n);
	combined += *n;
}

/* A function of an operation gets all elements, in several calls where its count is an int. The functions touch none. */
static void operations(void) {
	const MPI_Count n = 4 * GIB + 3, apart[] = {0, n - 1};
	unsigned char *a = long_memory(n, 0, 2, apart), *b = long_memory(n, 0, 2, apart);
	for (int large = 0; large < 2; large++) {
		MPI_Op op;
		if (large) OK(MPI_Op_create_c(combine_large, 1, &op));
		else OK(MPI_Op_create(combine, 1, &op));
		combined = 0;
		OK(MPI_Reduce_local_c(a, b, n, MPI_BYTE, op));
		CHECK(combined == n, "%lld elements, large %d", (long long)combined, large);
		OK(MPI_Op_free(&op));
	}
}

/* Packed data behind 4 GiB. */
static void packed(void) {
	const MPI_Count room = 5 * GIB, start = 4 * GIB + 8;
	unsigned char *b = long_memory(room, 0, 1, &start);
	MPI_Count at = start, need = 0;
	int in[] = {rank, 7}, out[] = {-1, -1};
	OK(MPI_Pack_size_c(2, MPI_INT, MPI_COMM_WORLD, &need));
	OK(MPI_Pack_c(in, 2, MPI_INT, b, room, &at, MPI_COMM_WORLD));
	CHECK(at > start && at <= start + need, "position %lld", (long long)at);
	MPI_Count end = at;
	at = start;
	OK(MPI_Unpack_c(b, room, &at, out, 2, MPI_INT, MPI_COMM_WORLD));
	CHECK(at == end && out[0] == rank && out[1] == 7, "position %lld, %d and %d", (long long)at, out[0], out[1]);
	at = start;
	OK(MPI_Pack_external_c("external32", in, 2, MPI_INT, b, room, &at));
	CHECK(at == start + 8 && b[start + 7] == 7, "position %lld, byte %d", (long long)at, b[start + 7]);
	at = start;
	OK(MPI_Unpack_external_c("external32", b, room, &at, out, 1, MPI_INT));
	CHECK(at == start + 4 && out[0] == rank, "position %lld, %d", (long long)at, out[0]);
	at = room - 4;
	CHECK(MPI_Pack_c(in, 2, MPI_INT, b, room, &at, MPI_COMM_WORLD) != MPI_SUCCESS, "data behind the end");
	for (MPI_Count k = 0; k < 16; k++) CHECK(b[k] == 0, "byte %lld is %d", (long long)k, b[k]);
}

/* Forms with arrays of large counts, or that return some, with counts that an int holds. */
static void others(void) {
	const MPI_Count lengths[] = {2, 1}, places[] = {3, 0}, bytes[] = {12, 0};
	const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
	const int in[] = {10, 11, 12, 13, 14};
	MPI_Datatype t[3];
	OK(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &t[0]));
	OK(MPI_Type_create_struct_c(2, lengths, bytes, ints, &t[1]));
	OK(MPI_Type_create_hindexed_block_c(2, 1, bytes, MPI_INT, &t[2]));
	for (int k = 0; k < 3; k++) {
		int out[3] = {-1, -1, -1}, n = k < 2 ? 3 : 2;
		MPI_Count size = 0, low = -1, extent = -1;
		OK(MPI_Type_commit(&t[k]));
		OK(MPI_Type_size_c(t[k], &size));
		OK(MPI_Type_get_true_extent_c(t[k], &low, &extent));
		CHECK(size == 4 * n && low == 0 && extent == (k < 2 ? 20 : 16), "type %d: %lld bytes, from %lld %lld", k, (long long)size, (long long)low, (long long)extent);
		OK(MPI_Sendrecv_c(in, 1, t[k], 0, 3, out, 3, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
		CHECK(out[0] == 13 && out[1] == (k < 2 ? 14 : 10) && out[2] == (k < 2 ? 10 : -1), "type %d: %d, %d, %d", k, out[0], out[1], out[2]);
		OK(MPI_Type_free(&t[k]));
	}

	char buffer[1000 + MPI_BSEND_OVERHEAD];
	void *was = NULL;
	MPI_Count room = 0;
	MPI_Session s;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	OK(MPI_Buffer_attach_c(buffer, sizeof buffer));
	OK(MPI_Buffer_detach_c(&was, &room));
	CHECK(was == buffer && room == sizeof buffer, "%lld bytes", (long long)room);
	OK(MPI_Comm_attach_buffer_c(MPI_COMM_SELF, buffer, sizeof buffer));
	OK(MPI_Comm_detach_buffer_c(MPI_COMM_SELF, &was, &room));
	CHECK(was == buffer && room == sizeof buffer, "%lld bytes", (long long)room);
	OK(MPI_Session_attach_buffer_c(s, buffer, sizeof buffer - 8));
	OK(MPI_Session_detach_buffer_c(s, &was, &room));
	CHECK(was == buffer && room == sizeof buffer - 8, "%lld bytes", (long long)room);
	OK(MPI_Session_finalize(&s));

	MPI_Win w;
	MPI_Aint size_of = 0, unit = 0;
	int *mine = NULL, *same = NULL;
	OK(MPI_Win_allocate_shared_c(4 * sizeof *mine, 5 * GIB, MPI_INFO_NULL, MPI_COMM_SELF, &mine, &w)); /* a unit that no int holds */
	OK(MPI_Win_shared_query_c(w, 0, &size_of, &unit, &same));
	CHECK(size_of == 4 * sizeof *mine && unit == 5 * GIB && same == mine, "%lld bytes, unit %lld", (long long)size_of, (long long)unit);
	OK(MPI_Win_free(&w));
	MPI_File f;
	MPI_Count extent = 0;
	OK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_get_type_extent_c(f, MPI_DOUBLE, &extent));
	CHECK(extent == 8, "%lld bytes", (long long)extent);
	OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	if (argc > 1) { /* no long memory: valgrind takes minutes for its mappings */
		others();
	} else if (size > 1) {
		message();
		exchange();
	} else {
		derived();
		operations();
		packed();
		others();
	}
	return done();
}
