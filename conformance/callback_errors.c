/* Callbacks that make wrong calls themselves, or fail: they get the errors of their calls, their
 * result becomes that of the outer call, and the library continues to work (Halo, E2-26). */
#include "check.h"

static int handled, nested, inside; /* calls of handlers, nested calls of handlers, present depth */

/* A handler that makes correct and wrong calls on the same object. The object's handler is called
 * for the wrong ones. */
static void on_comm(MPI_Comm *comm, int *code, ...) {
	int v = 0, n = -1;
	handled++;
	CHECK(class_of(*code) == (inside ? MPI_ERR_TAG : MPI_ERR_RANK), "class %d", class_of(*code));
	if (inside) {
		nested++;
		return;
	}
	inside = 1;
	FAILS(MPI_Send(&v, 1, MPI_INT, 0, -5, *comm), MPI_ERR_TAG);
	OK(MPI_Comm_size(*comm, &n));
	CHECK(n == 1, "%d processes", n);
	OK(MPI_Sendrecv(&n, 1, MPI_INT, 0, 3, &v, 1, MPI_INT, 0, 3, *comm, MPI_STATUS_IGNORE));
	CHECK(v == 1, "received %d", v);
	inside = 0;
}

/* A handler that removes itself from its object and frees the object's handle. */
static void on_last(MPI_Comm *comm, int *code, ...) {
	(void)code;
	handled++;
	OK(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
	OK(MPI_Comm_free(comm));
}

static void on_win(MPI_Win *win, int *code, ...) {
	handled++;
	CHECK(class_of(*code) == MPI_ERR_RMA_SYNC, "class %d", class_of(*code));
	OK(MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN));
	FAILS(MPI_Win_unlock_all(*win), MPI_ERR_RMA_SYNC);
}

static void handlers(void) {
	int v = 0;
	MPI_Comm c;
	MPI_Errhandler h;
	MPI_Win w;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
	OK(MPI_Comm_create_errhandler(on_comm, &h));
	OK(MPI_Comm_set_errhandler(c, h));
	OK(MPI_Errhandler_free(&h));
	FAILS(MPI_Send(&v, 1, MPI_INT, 9, 0, c), MPI_ERR_RANK);
	CHECK(handled == 2 && nested == 1, "%d calls, %d of them within one", handled, nested);
	OK(MPI_Comm_create_errhandler(on_last, &h));
	OK(MPI_Comm_set_errhandler(c, h));
	OK(MPI_Errhandler_free(&h));
	handled = 0;
	FAILS(MPI_Send(&v, 1, MPI_INT, 9, 0, c), MPI_ERR_RANK);
	CHECK(handled == 1, "%d calls", handled);
	FAILS(MPI_Send(&v, 1, MPI_INT, 0, 0, c), MPI_ERR_COMM); /* c has been freed */

	OK(MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, MPI_COMM_SELF, &w));
	OK(MPI_Win_create_errhandler(on_win, &h));
	OK(MPI_Win_set_errhandler(w, h));
	OK(MPI_Errhandler_free(&h));
	handled = 0;
	FAILS(MPI_Win_flush_all(w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_flush_all(w), MPI_ERR_RMA_SYNC);
	CHECK(handled == 1, "%d calls", handled);
	OK(MPI_Win_free(&w));
}

static int operations;

/* An operation that asks for the type's size, as many do, and makes a wrong call. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
	int bytes = -1;
	operations++;
	OK(MPI_Type_size(*type, &bytes));
	CHECK(bytes == (int)sizeof(int), "%d bytes", bytes);
	FAILS(MPI_Type_size(MPI_DATATYPE_NULL, &bytes), MPI_ERR_TYPE);
	for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void reductions(void) {
	MPI_Op op;
	MPI_Request r;
	int mine[3] = {rank, 2 * rank, 1}, all[3], sum = size * (size - 1) / 2;
	OK(MPI_Op_create(add, 1, &op));
	OK(MPI_Allreduce(mine, all, 3, MPI_INT, op, MPI_COMM_WORLD));
	CHECK(all[0] == sum && all[1] == 2 * sum && all[2] == size, "%d %d %d", all[0], all[1], all[2]);
	OK(MPI_Iallreduce(mine, all, 3, MPI_INT, op, MPI_COMM_WORLD, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(all[0] == sum && all[1] == 2 * sum && all[2] == size, "%d %d %d", all[0], all[1], all[2]);
	int there = 1;
	OK(MPI_Allreduce(&operations, &there, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	CHECK(there > 0, "nobody has called the operation");
	OK(MPI_Op_free(&op));
}

static int refuse;

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra) {
	int n;
	(void)value;
	(void)extra;
	OK(MPI_Comm_size(comm, &n));
	FAILS(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
	(void)key;
	return refuse;
}

static int delete_win(MPI_Win win, int key, void *value, void *extra) {
	(void)win, (void)key, (void)value, (void)extra;
	return refuse;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra) {
	(void)type, (void)key, (void)value, (void)extra;
	return refuse;
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
	(void)type, (void)key, (void)extra, (void)in, (void)out;
	*flag = 0;
	return refuse;
}

static void attributes(void) {
	int key, v = 0, flag;
	void *kept; /* the value, which stays when a callback fails */
	MPI_Comm c;
	MPI_Win w;
	MPI_Datatype t, u;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, NULL));
	OK(MPI_Comm_set_attr(c, key, &v));
	refuse = MPI_ERR_OTHER;
	FAILS(MPI_Comm_delete_attr(c, key), MPI_ERR_OTHER);
	FAILS(MPI_Comm_set_attr(c, key, &key), MPI_ERR_OTHER);
	FAILS(MPI_Comm_free(&c), MPI_ERR_OTHER);
	OK(MPI_Comm_get_attr(c, key, &kept, &flag));
	CHECK(flag && kept == &v, "flag %d", flag);
	OK(MPI_Barrier(c));
	refuse = 0;
	OK(MPI_Comm_free(&c));
	OK(MPI_Comm_free_keyval(&key));

	OK(MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, MPI_COMM_SELF, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL));
	OK(MPI_Win_set_attr(w, key, &v));
	refuse = MPI_ERR_OTHER;
	FAILS(MPI_Win_delete_attr(w, key), MPI_ERR_OTHER);
	OK(MPI_Win_get_attr(w, key, &kept, &flag));
	CHECK(flag && kept == &v, "flag %d", flag);
	OK(MPI_Win_fence(0, w));
	refuse = 0;
	OK(MPI_Win_free(&w));
	OK(MPI_Win_free_keyval(&key));

	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	OK(MPI_Type_create_keyval(copy_type, delete_type, &key, NULL));
	OK(MPI_Type_set_attr(t, key, &v));
	refuse = MPI_ERR_OTHER;
	u = MPI_INT;
	CHECK(MPI_Type_dup(t, &u) != MPI_SUCCESS && u == MPI_DATATYPE_NULL);
	FAILS(MPI_Type_free(&t), MPI_ERR_OTHER);
	OK(MPI_Type_get_attr(t, key, &kept, &flag));
	CHECK(t != MPI_DATATYPE_NULL && flag && kept == &v, "flag %d", flag);
	refuse = 0;
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free_keyval(&key));
}

static int fail(void *state) {
	(void)state;
	return MPI_ERR_OTHER;
}

static int query(void *state, MPI_Status *status) {
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	return *(int *)state;
}

static int release(void *state) {
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
	(void)state;
	CHECK(!complete, "complete");
	return MPI_ERR_OTHER;
}

static void generalized(void) {
	MPI_Request r;
	int code = MPI_ERR_OTHER, fine = MPI_SUCCESS;
	OK(MPI_Grequest_start(query, release, cancel, &code, &r));
	CHECK(MPI_Cancel(&r) != MPI_SUCCESS);
	OK(MPI_Grequest_complete(r));
	CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS && r == MPI_REQUEST_NULL);
	OK(MPI_Grequest_start(query, fail, cancel, &fine, &r));
	OK(MPI_Grequest_complete(r));
	CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS && r == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	handlers();
	reductions();
	attributes();
	generalized();
	return done();
}
