/* Objects of every kind are made and freed repeatedly, as often as an argument says, and leak no
 * memory (Halo). A second argument selects one kind. */
#include "check.h"

enum { limit = 2048 }; /* pages of growth in a round: 8 MiB */

/* resident returns the resident memory of the process in pages. */
static long resident(void) {
	long all = 0, here = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%ld %ld", &all, &here) != 2) here = 0;
	if (f) fclose(f);
	return here;
}

static MPI_Win parent; /* the window that win duplicates */

static void type(int i) {
	MPI_Datatype t, u;
	OK(MPI_Type_vector(2, 1, 3 + i % 5, MPI_INT, &t));
	OK(MPI_Type_dup(t, &u));
	OK(MPI_Type_free(&t));
	OK(MPI_Type_commit(&u));
	OK(MPI_Type_free(&u));
}

static void sum(void *in, void *inout, int *n, MPI_Datatype *t) {
	(void)t;
	for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void op(int i) {
	MPI_Op o;
	OK(MPI_Op_create(sum, i % 2, &o));
	OK(MPI_Op_free(&o));
}

static void group(int i) {
	MPI_Group g, h;
	(void)i;
	OK(MPI_Comm_group(MPI_COMM_SELF, &g));
	OK(MPI_Group_incl(g, 1, (int[]){0}, &h));
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&h));
}

static void info(int i) {
	MPI_Info a, b;
	char value[12];
	snprintf(value, sizeof value, "%d", i);
	OK(MPI_Info_create(&a));
	OK(MPI_Info_set(a, "number", value));
	OK(MPI_Info_dup(a, &b));
	OK(MPI_Info_free(&a));
	OK(MPI_Info_free(&b));
}

static void request(int i) {
	MPI_Request r;
	int v = i, w = -1;
	OK(MPI_Irecv(&w, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
	OK(MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(w == i, "%d", w);
}

static void persistent(int i) {
	MPI_Request r[2];
	int v = i, w = -1;
	OK(MPI_Recv_init(&w, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r[0]));
	OK(MPI_Send_init(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r[1]));
	OK(MPI_Startall(2, r));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	CHECK(w == i, "%d", w);
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
}

static int query(void *state, MPI_Status *status) {
	(void)state;
	OK(MPI_Status_set_elements(status, MPI_INT, 0));
	OK(MPI_Status_set_cancelled(status, 0));
	return MPI_SUCCESS;
}

static int release(void *state) {
	(*(int *)state)++;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

static void generalized(int i) {
	MPI_Request r;
	int freed = 0;
	(void)i;
	OK(MPI_Grequest_start(query, release, cancel, &freed, &r));
	OK(MPI_Grequest_complete(r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(freed == 1, "freed %d times", freed);
}

static void message(int i) {
	MPI_Request r;
	MPI_Message m;
	int v = i, w = -1;
	OK(MPI_Isend(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
	OK(MPI_Mprobe(0, 0, MPI_COMM_SELF, &m, MPI_STATUS_IGNORE));
	OK(MPI_Mrecv(&w, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(w == i, "%d", w);
}

static void on_comm(MPI_Comm *comm, int *code, ...) {
	(void)comm;
	(void)code;
}

static void on_win(MPI_Win *win, int *code, ...) {
	(void)win;
	(void)code;
}

static void errhandler(int i) {
	MPI_Errhandler h;
	if (i % 2) OK(MPI_Comm_create_errhandler(on_comm, &h));
	else OK(MPI_Win_create_errhandler(on_win, &h));
	OK(MPI_Errhandler_free(&h));
}

static void keyval(int i) {
	int key, flag;
	void *value;
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &i));
	OK(MPI_Comm_get_attr(MPI_COMM_SELF, key, &value, &flag));
	CHECK(flag && value == &i);
	OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
	OK(MPI_Comm_free_keyval(&key));
}

static void win(int i) {
	MPI_Win w;
	(void)i;
	OK(MPIX_Win_dup(parent, &w));
	OK(MPI_Win_free(&w));
}

static void errclass(int i) {
	int class, code;
	(void)i;
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_string(code, "mine"));
	OK(MPI_Remove_error_string(code));
	OK(MPI_Remove_error_code(code));
	OK(MPI_Remove_error_class(class));
}

static void comm(int i) {
	MPI_Comm c;
	(void)i;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
	OK(MPI_Comm_free(&c));
}

static void window(int i) {
	MPI_Win w;
	int v = i;
	OK(MPI_Win_create(&v, sizeof v, 1, MPI_INFO_NULL, MPI_COMM_SELF, &w));
	OK(MPI_Win_free(&w));
}

static const struct {
	const char *name;
	void (*make)(int);
} kinds[] = {
	{"type", type}, {"op", op}, {"group", group}, {"info", info}, {"request", request}, {"persistent", persistent},
	{"generalized", generalized}, {"message", message}, {"errhandler", errhandler}, {"keyval", keyval}, {"win", win},
	{"errclass", errclass}, {"comm", comm}, {"window", window},
};

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 100000;
	OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &(void *){NULL}, &parent));
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		if (argc > 2 && strcmp(argv[2], kinds[k].name) != 0) continue;
		for (int i = 0; i < n / 2; i++) kinds[k].make(i); /* lets the heap reach its final size */
		long before, after = resident();
		int rounds = 0;
		do { /* with few cores garbage is collected late, but only a leak grows in every round */
			before = after;
			for (int i = 0; i < n; i++) kinds[k].make(i);
			after = resident();
		} while (after >= before + limit && ++rounds < 4);
		CHECK(after < before + limit, "%s: %ld pages, %ld before", kinds[k].name, after, before);
	}
	OK(MPI_Win_free(&parent));
	return done();
}
