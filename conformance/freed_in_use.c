/* BRD-02: objects that the program frees while an operation is pending serve it until it is complete, and so
 * do their functions: operations ask the datatype that they are given, an error goes to the handler of the
 * communicator that was freed, and the handler asks the communicator. */
#include "check.h"
#include <unistd.h>

enum { N = 50 };

static int refused, inside; /* inside: the operation frees the datatype itself */
static MPI_Datatype theirs;

static void ask(MPI_Datatype t) {
	int size = 0, ints, addresses, types, combiner, length;
	MPI_Aint lb, extent = 0, reach = 0;
	MPI_Datatype again;
	char name[MPI_MAX_OBJECT_NAME];
	refused += MPI_Type_size(t, &size) != MPI_SUCCESS || size != 8;
	refused += MPI_Type_get_extent(t, &lb, &extent) != MPI_SUCCESS || lb != 0 || extent != 12;
	refused += MPI_Type_get_true_extent(t, &lb, &reach) != MPI_SUCCESS || reach != 12;
	refused += MPI_Type_get_envelope(t, &ints, &addresses, &types, &combiner) != MPI_SUCCESS || combiner != MPI_COMBINER_RESIZED;
	refused += MPI_Type_get_name(t, name, &length) != MPI_SUCCESS || strcmp(name, "spread") != 0;
	refused += MPI_Type_dup(t, &again) != MPI_SUCCESS || MPI_Type_free(&again) != MPI_SUCCESS;
}

/* The sum of elements of two ints with one between them. */
static void sum(void *in, void *inout, int *n, MPI_Datatype *t) {
	if (inside) {
		inside = 0;
		MPI_Type_free(&theirs);
	}
	ask(*t);
	for (int *a = in, *b = inout, i = 0; i < *n; i++, a += 3, b += 3)
		b[0] += a[0], b[2] += a[2];
}

static void sum_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *t) {
	int some = (int)*n;
	sum(in, inout, &some, t);
}

static MPI_Datatype spread(void) {
	MPI_Datatype v, t;
	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &v));
	OK(MPI_Type_create_resized(v, 0, 12, &t));
	OK(MPI_Type_set_name(t, "spread"));
	OK(MPI_Type_free(&v));
	OK(MPI_Type_commit(&t));
	return t;
}

/* total is the sum of number i of the ranks before n, of which rank r has 100 r + i. */
static int total(int n, int i) { return n * (n - 1) / 2 * 100 + n * i; }

static void reductions(void) {
	static int send[3 * N], recv[3 * N], ones[64];
	for (int i = 0; i < 64; i++)
		ones[i] = 1;
	for (int way = 0; way < 48; way++) {
		int kind = way % 12, persistent = kind >= 6, large = way / 12 % 2, from = 0, count = 3 * N, upto = size;
		MPI_Comm c;
		MPI_Op op;
		MPI_Request q;
		MPI_Datatype t = spread();
		theirs = t, inside = way / 24;
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
		if (large)
			OK(MPI_Op_create_c(sum_c, 1, &op));
		else
			OK(MPI_Op_create(sum, 1, &op));
		for (int i = 0; i < 3 * N; i++)
			send[i] = 100 * rank + i, recv[i] = -1;
		switch (kind) {
		case 0: OK(MPI_Ireduce(send, recv, N, t, op, 0, c, &q)); break;
		case 1: OK(MPI_Iallreduce(send, recv, N, t, op, c, &q)); break;
		case 2: OK(MPI_Iscan(send, recv, N, t, op, c, &q)); break;
		case 3: OK(MPI_Iexscan(send, recv, N, t, op, c, &q)); break;
		case 4: OK(MPI_Ireduce_scatter_block(send, recv, 1, t, op, c, &q)); break;
		case 5: OK(MPI_Ireduce_scatter(send, recv, ones, t, op, c, &q)); break;
		case 6: OK(MPI_Reduce_init(send, recv, N, t, op, 0, c, MPI_INFO_NULL, &q)); break;
		case 7: OK(MPI_Allreduce_init(send, recv, N, t, op, c, MPI_INFO_NULL, &q)); break;
		case 8: OK(MPI_Scan_init(send, recv, N, t, op, c, MPI_INFO_NULL, &q)); break;
		case 9: OK(MPI_Exscan_init(send, recv, N, t, op, c, MPI_INFO_NULL, &q)); break;
		case 10: OK(MPI_Reduce_scatter_block_init(send, recv, 1, t, op, c, MPI_INFO_NULL, &q)); break;
		case 11: OK(MPI_Reduce_scatter_init(send, recv, ones, t, op, c, MPI_INFO_NULL, &q)); break;
		}
		if (kind % 6 == 0 && rank != 0) count = 0;
		if (kind % 6 == 2) upto = rank + 1;
		if (kind % 6 == 3 && (upto = rank) == 0) count = 0;
		if (kind % 6 >= 4) from = 3 * rank, count = 3;
		if (!inside)
			OK(MPI_Type_free(&t));
		OK(MPI_Op_free(&op));
		if (!persistent)
			OK(MPI_Comm_free(&c));
		for (int start = 0; start < (persistent ? 3 : 1); start++) {
			if (persistent)
				OK(MPI_Start(&q));
			if (persistent && start == 1)
				OK(MPI_Comm_free(&c));
			OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
			for (int i = 0; i < 3 * N; i++) {
				int want = i % 3 == 1 || i >= count ? -1 : total(upto, from + i);
				if (recv[i] != want) {
					CHECK(recv[i] == want, "way %d, start %d: number %d is %d, not %d", way, start, i, recv[i], want);
					break;
				}
				recv[i] = -1;
			}
		}
		CHECK(refused == 0, "way %d: the datatype could not be asked %d times", way, refused);
		refused = 0;
		if (persistent)
			OK(MPI_Request_free(&q));
		inside = 0;
		if (way >= 24 && theirs != MPI_DATATYPE_NULL)
			OK(MPI_Type_free(&theirs)); /* the operation has not run here */
	}
}

static int calls, heard, selfs;

/* The handler asks its communicator. */
static void handler(MPI_Comm *c, int *code, ...) {
	int r = -1, n = -1, length, flag, *value, class = -1;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Group g;
	MPI_Errhandler h;
	calls++;
	heard = class_of(*code);
	OK(MPI_Comm_rank(*c, &r));
	OK(MPI_Comm_size(*c, &n));
	CHECK(r == rank && n == size, "rank %d of %d", r, n);
	OK(MPI_Comm_get_name(*c, name, &length));
	CHECK(strcmp(name, "in use") == 0, "name %s", name);
	OK(MPI_Comm_group(*c, &g));
	OK(MPI_Group_free(&g));
	OK(MPI_Comm_get_errhandler(*c, &h));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Comm_get_attr(*c, MPI_TAG_UB, &value, &flag));
	CHECK(flag, "no MPI_TAG_UB");
	OK(MPI_Error_class(*code, &class));
}

static void of_self(MPI_Comm *c, int *code, ...) {
	(void)c, (void)code;
	selfs++;
}

static int refuses(MPI_Comm c, int key, void *extra, void *value, void *out, int *flag) {
	(void)c, (void)key, (void)extra, (void)value, (void)out, (void)flag;
	return MPI_ERR_IO;
}

static void ruins(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }

static void errors(void) {
	static char small[4], large[1 << 21];
	MPI_Errhandler h, s;
	OK(MPI_Comm_create_errhandler(of_self, &s));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, s));
	for (int way = 0; way < 6; way++) {
		MPI_Comm c, d = MPI_COMM_NULL;
		MPI_Request q, r = MPI_REQUEST_NULL;
		MPI_Message m;
		int class = MPI_ERR_TRUNCATE, key, ints[2], sums[2];
		MPI_Op op;
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
		OK(MPI_Comm_set_name(c, "in use"));
		OK(MPI_Comm_create_errhandler(handler, &h));
		OK(MPI_Comm_set_errhandler(c, h));
		OK(MPI_Errhandler_free(&h));
		int next = (rank + 1) % size, previous = (rank + size - 1) % size;
		switch (way) {
		case 0: /* short */
			OK(MPI_Irecv(small, 1, MPI_INT, previous, 1, c, &q));
			OK(MPI_Isend(large, 2, MPI_INT, next, 1, c, &r));
			break;
		case 1: /* long */
			OK(MPI_Irecv(small, 1, MPI_INT, previous, 1, c, &q));
			OK(MPI_Isend(large, sizeof large, MPI_BYTE, next, 1, c, &r));
			break;
		case 2: /* persistent, started */
			OK(MPI_Recv_init(small, 1, MPI_INT, previous, 1, c, &q));
			OK(MPI_Isend(large, 2, MPI_INT, next, 1, c, &r));
			OK(MPI_Start(&q));
			break;
		case 3: /* a message that was matched */
			OK(MPI_Isend(large, 2, MPI_INT, next, 1, c, &r));
			OK(MPI_Mprobe(previous, 1, c, &m, MPI_STATUS_IGNORE));
			OK(MPI_Imrecv(small, 1, MPI_INT, &m, &q));
			break;
		case 4: /* a callback of an attribute whose key was freed */
			OK(MPI_Comm_create_keyval(refuses, MPI_COMM_NULL_DELETE_FN, &key, NULL));
			OK(MPI_Comm_set_attr(c, key, NULL));
			OK(MPI_Comm_free_keyval(&key));
			class = MPI_ERR_IO;
			OK(MPI_Comm_idup(c, &d, &q));
			break;
		case 5: /* no error: an operation that was freed */
			OK(MPI_Op_create(ruins, 1, &op));
			OK(MPI_Iallreduce(ints, sums, 2, MPI_INT, op, c, &q));
			OK(MPI_Op_free(&op));
			class = MPI_SUCCESS;
			break;
		}
		OK(MPI_Comm_free(&c));
		calls = selfs = 0;
		int code = class_of(MPI_Wait(&q, MPI_STATUS_IGNORE));
		CHECK(code == class && calls == (class != MPI_SUCCESS) && (calls == 0 || heard == class), "way %d: class %d, %d calls of the handler", way, code, calls);
		CHECK(selfs == 0, "way %d: the handler of MPI_COMM_SELF was called", way);
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		if (q != MPI_REQUEST_NULL)
			OK(MPI_Request_free(&q));
	}
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&s));
}

static int freed, queried;
static int query(void *extra, MPI_Status *st) {
	(void)extra, queried++;
	MPI_Status_set_elements(st, MPI_INT, 3);
	MPI_Status_set_cancelled(st, 0);
	return MPI_SUCCESS;
}
static int release(void *extra) { return (void)extra, freed++, MPI_SUCCESS; }
static int cancel(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

/* Infos, keys and generalized requests. */
static void others(void) {
	MPI_Info info;
	MPI_Comm c, d;
	MPI_Request q, copy;
	int key, flag, *got, value = 7;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
	int kept = key;
	OK(MPI_Comm_set_attr(c, key, &value));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
	OK(MPI_Comm_idup_with_info(c, info, &d, &q));
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_free_keyval(&key));
	OK(MPI_Comm_free(&c));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	OK(MPI_Comm_get_attr(d, kept, &got, &flag));
	CHECK(flag && *got == 7, "the attribute is lost");
	OK(MPI_Comm_get_info(d, &info));
	char text[10] = "";
	int length = sizeof text;
	OK(MPI_Info_get_string(info, "mpi_assert_no_any_tag", &length, text, &flag));
	CHECK(flag && strcmp(text, "true") == 0, "the hint is %s", text);
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_free(&d));

	OK(MPI_Grequest_start(query, release, cancel, NULL, &q));
	copy = q;
	OK(MPI_Request_free(&q));
	CHECK(freed == 0, "freed before the operation was complete");
	OK(MPI_Grequest_complete(copy));
	CHECK(freed == 1 && queried == 0, "freed %d times, queried %d times", freed, queried);
}

static int asked;

static int extent_of(MPI_Datatype t, MPI_Aint *bytes, void *state) {
	int size;
	(void)state;
	OK(MPI_Type_size(t, &size));
	*bytes = size;
	return MPI_SUCCESS;
}

static int convert(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state) {
	ask(t);
	asked++;
	int *mem = user;
	for (int i = 0; i < count; i++) { /* two ints of each element */
		int at = (int)position + i, *p = mem + at / 2 * 3 + at % 2 * 2;
		if (*(int *)state)
			((int *)file)[i] = ~*p;
		else
			*p = ~((int *)file)[i];
	}
	return MPI_SUCCESS;
}

static int reads(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state) {
	int no = 0;
	(void)state;
	return convert(user, t, count, file, position, &no);
}

/* Conversion functions ask a datatype that was freed. */
static void files(void) {
	int yes = 1, send[3 * N], recv[3 * N];
	char name[64];
	MPI_File f;
	MPI_Request q;
	snprintf(name, sizeof name, "/tmp/conformance-freed-%d", (int)getpid());
	OK(MPI_Register_datarep("asks", reads, convert, extent_of, &yes));
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "asks", MPI_INFO_NULL));
	for (int i = 0; i < 3 * N; i++)
		send[i] = i, recv[i] = -1;
	MPI_Datatype t = spread();
	OK(MPI_File_iwrite_at(f, 0, send, N, t, &q));
	OK(MPI_Type_free(&t));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	t = spread();
	OK(MPI_File_iread_at(f, 0, recv, N, t, &q));
	OK(MPI_Type_free(&t));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	for (int i = 0; i < 3 * N; i++)
		if (recv[i] != (i % 3 == 1 ? -1 : i)) {
			CHECK(recv[i] == i, "number %d of the file is %d", i, recv[i]);
			break;
		}
	CHECK(asked > 0 && refused == 0, "%d conversions, could not ask %d times", asked, refused);
	OK(MPI_File_close(&f));
}

/* The group of an epoch is freed right after the call that begins it, and so are the communicator and the info that the
 * window was made with. */
static void epochs(void) {
	MPI_Comm c;
	MPI_Info info;
	MPI_Win w;
	MPI_Group all, others;
	int *memory, alone = size == 1;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "same_size", "true"));
	OK(MPI_Win_allocate((MPI_Aint)sizeof *memory * size, sizeof *memory, info, c, &memory, &w));
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_free(&c));
	for (int turn = 0; turn < 20; turn++) {
		for (int r = 0; r < size; r++)
			memory[r] = -1;
		OK(MPI_Win_get_group(w, &all));
		if (alone)
			OK(MPI_Group_incl(all, 1, &rank, &others));
		else
			OK(MPI_Group_excl(all, 1, &rank, &others));
		OK(MPI_Group_free(&all));
		OK(MPI_Win_post(others, turn % 2 ? MPI_MODE_NOSTORE : 0, w));
		OK(MPI_Win_start(others, 0, w));
		OK(MPI_Group_free(&others));
		OK(MPI_Win_get_group(w, &all)); /* which may get the memory of the one that was freed */
		for (int r = 0; r < size; r++)
			if (alone || r != rank)
				OK(MPI_Put(&turn, 1, MPI_INT, r, rank, 1, MPI_INT, w));
		OK(MPI_Win_complete(w));
		OK(MPI_Group_free(&all));
		if (turn % 3)
			OK(MPI_Win_wait(w));
		else
			for (int over = 0; !over;)
				OK(MPI_Win_test(w, &over));
		for (int r = 0; r < size; r++)
			CHECK(memory[r] == (alone || r != rank ? turn : -1), "turn %d: %d of rank %d", turn, memory[r], r);
	}
	OK(MPI_Win_free(&w));
}

/* A session is not finalized while a request on one of its communicators is active, although the communicator and the
 * group that it was made of are freed. */
static void sessions(void) {
	static int out[1 << 18], in[1 << 18];
	for (int way = 0; way < 3; way++) {
		MPI_Session s, again;
		MPI_Group g;
		MPI_Comm c, d;
		MPI_Request q = MPI_REQUEST_NULL;
		int last = size - 1, x = 1, sum = -1;
		OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
		OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
		OK(MPI_Comm_create_from_group(g, "c", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
		OK(MPI_Comm_create_from_group(g, "d", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d));
		OK(MPI_Group_free(&g));
		again = s;
		in[0] = -1, out[0] = rank;
		/* Rank 0 has freed c before the last rank completes its operation. */
		if (rank == 0 && size > 1) {
			if (way == 0)
				OK(MPI_Irecv(in, 1, MPI_INT, last, 1, c, &q));
			else if (way == 1)
				OK(MPI_Isend(out, 1 << 18, MPI_INT, last, 1, c, &q));
			else
				OK(MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c, &q));
			OK(MPI_Comm_free(&c));
			if (way != 1) /* an MPI may send to nobody */
				FAILS(MPI_Session_finalize(&again), MPI_ERR_PENDING);
		}
		OK(MPI_Barrier(d));
		if (rank != 0 && way == 2)
			OK(MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c, &q));
		if (rank == last && size > 1 && way == 0)
			OK(MPI_Send(out, 1, MPI_INT, 0, 1, c));
		if (rank == last && size > 1 && way == 1)
			OK(MPI_Recv(in, 1 << 18, MPI_INT, 0, 1, c, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		CHECK(size == 1 || way != 0 || rank != 0 || in[0] == last, "%d", in[0]);
		CHECK(size == 1 || way != 1 || rank != last || in[0] == 0, "%d", in[0]);
		CHECK(size == 1 || way != 2 || sum == size, "%d", sum);
		if (c != MPI_COMM_NULL)
			OK(MPI_Comm_free(&c));
		OK(MPI_Comm_free(&d));
		OK(MPI_Session_finalize(&s));
	}
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	reductions();
	epochs();
	sessions();
	errors();
	others();
	files();
	return done();
}
