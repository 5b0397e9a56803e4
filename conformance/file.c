/* Files: views that interleave, every family of accesses, pointers, sizes, handlers and errors. */
#include "check.h"
#include <unistd.h>

enum { ROWS = 40 };

static char name[128];
static int here; /* the class that the handler got, -1 for no file */

static void on_file(MPI_File *f, int *code, ...) {
	here = *f == MPI_FILE_NULL ? -1 : class_of(*code);
}

static int count_of(MPI_Status *st, MPI_Datatype t) {
	int n = -1;
	OK(MPI_Get_count(st, t, &n));
	return n;
}

/* Each rank has a column of a matrix of ROWS rows. */
static void views(void) {
	MPI_File f;
	MPI_Datatype column, type, element;
	MPI_Status st;
	MPI_Request r;
	MPI_Offset at, disp;
	char rep[MPI_MAX_DATAREP_STRING];
	int mine[ROWS], all[ROWS * 8], i, flag;
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_Type_vector(ROWS, 1, size, MPI_INT, &column));
	OK(MPI_Type_commit(&column));
	OK(MPI_File_set_view(f, 4 * rank, MPI_INT, column, "native", MPI_INFO_NULL));
	OK(MPI_Type_free(&column));
	for (i = 0; i < ROWS; i++)
		mine[i] = i * size + rank;
	OK(MPI_File_write_all(f, mine, ROWS, MPI_INT, &st));
	CHECK(count_of(&st, MPI_INT) == ROWS, "wrote %d", count_of(&st, MPI_INT));
	OK(MPI_File_get_position(f, &at));
	CHECK(at == ROWS, "pointer at %d", (int)at);
	OK(MPI_File_get_byte_offset(f, 3, &disp));
	CHECK(disp == 4 * (3 * size + rank), "byte %d", (int)disp);
	OK(MPI_File_sync(f));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_sync(f));
	memset(mine, 0, sizeof mine);
	OK(MPI_File_iread_at(f, 5, mine + 5, 10, MPI_INT, &r));
	OK(MPI_Wait(&r, &st));
	CHECK(count_of(&st, MPI_INT) == 10 && mine[14] == 14 * size + rank, "read %d, %d", count_of(&st, MPI_INT), mine[14]);
	OK(MPI_File_iread_at_all(f, 0, mine, ROWS, MPI_INT, &r));
	OK(MPI_Wait(&r, &st));
	CHECK(mine[0] == rank && mine[ROWS - 1] == (ROWS - 1) * size + rank, "read %d", mine[0]);
	memset(mine, 0, sizeof mine);
	OK(MPI_File_read_at_all_begin(f, 1, mine, ROWS - 1, MPI_INT));
	OK(MPI_File_read_at_all_end(f, mine, &st));
	CHECK(count_of(&st, MPI_INT) == ROWS - 1 && mine[0] == size + rank, "read %d, %d", count_of(&st, MPI_INT), mine[0]);
	OK(MPI_File_get_view(f, &disp, &element, &type, rep));
	CHECK(disp == 4 * rank && element == MPI_INT && strcmp(rep, "native") == 0, "view %d %s", (int)disp, rep);
	OK(MPI_Type_free(&type));
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_seek(f, 0, MPI_SEEK_END));
	OK(MPI_File_get_position(f, &at));
	CHECK(at == ROWS * size, "end at %d", (int)at);
	OK(MPI_File_seek(f, -ROWS * size, MPI_SEEK_CUR));
	OK(MPI_File_read(f, all, ROWS * size, MPI_INT, &st));
	for (i = 0; i < ROWS * size; i++)
		CHECK(all[i] == i, "element %d is %d", i, all[i]);
	OK(MPI_File_read(f, all, 5, MPI_INT, &st));
	CHECK(count_of(&st, MPI_INT) == 0, "%d behind the end", count_of(&st, MPI_INT));
	OK(MPI_File_set_atomicity(f, 1));
	OK(MPI_File_get_atomicity(f, &flag));
	CHECK(flag, "not atomic");
	OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL, "handle %p", (void *)f);
}

/* Records at the shared pointer, then in the order of the ranks. */
static void shared(void) {
	MPI_File f;
	MPI_Status st;
	MPI_Request r;
	MPI_Offset at;
	int i, record[2], sum = 0, total;
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	OK(MPI_File_set_size(f, 0));
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	for (i = 0; i < 20; i++) {
		record[0] = rank;
		record[1] = i;
		if (i % 2) {
			OK(MPI_File_write_shared(f, record, 2, MPI_INT, &st));
		} else {
			OK(MPI_File_iwrite_shared(f, record, 2, MPI_INT, &r));
			OK(MPI_Wait(&r, &st));
		}
		CHECK(count_of(&st, MPI_INT) == 2, "wrote %d", count_of(&st, MPI_INT));
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_get_position_shared(f, &at));
	CHECK(at == 40 * size, "shared pointer at %d", (int)at);
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	for (i = 0; i < 20; i++) {
		OK(MPI_File_read_shared(f, record, 2, MPI_INT, &st));
		sum += record[1];
	}
	OK(MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(total == 190 * size, "records add up to %d", total);
	OK(MPI_File_write_ordered(f, &rank, 1, MPI_INT, &st));
	OK(MPI_File_seek_shared(f, -size, MPI_SEEK_CUR));
	OK(MPI_File_read_ordered_begin(f, record, 1, MPI_INT));
	OK(MPI_File_read_ordered_end(f, record, &st));
	CHECK(record[0] == rank, "read %d in order", record[0]);
	OK(MPI_File_close(&f));
}

/* Accesses that do not block, and those in two halves, at the individual and the shared pointer. */
static void forms(void) {
	enum { N = 50 };
	MPI_File f;
	MPI_Status st;
	MPI_Request r;
	int out[N], in[N];
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	for (int form = 0; form < 5; form++) {
		const MPI_Offset mine = N * rank;
		for (int i = 0; i < N; i++) out[i] = 1000 * form + N * rank + i, in[i] = -1;
		OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)); /* both pointers are at the beginning */
		OK(MPI_File_seek(f, mine, MPI_SEEK_SET));
		switch (form) {
		case 0: OK(MPI_File_iwrite(f, out, N, MPI_INT, &r)); break;
		case 1: OK(MPI_File_iwrite_all(f, out, N, MPI_INT, &r)); break;
		case 2: OK(MPI_File_write_all_begin(f, out, N, MPI_INT)); break;
		case 3: OK(MPI_File_write_ordered_begin(f, out, N, MPI_INT)); break;
		default: OK(MPI_File_iwrite_at_all(f, mine, out, N, MPI_INT, &r));
		}
		if (form == 2) OK(MPI_File_write_all_end(f, out, &st));
		else if (form == 3) OK(MPI_File_write_ordered_end(f, out, &st));
		else OK(MPI_Wait(&r, &st));
		CHECK(count_of(&st, MPI_INT) == N, "form %d wrote %d", form, count_of(&st, MPI_INT));
		OK(MPI_File_sync(f));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_File_sync(f));
		OK(MPI_File_seek(f, mine, MPI_SEEK_SET));
		OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
		switch (form) {
		case 0: OK(MPI_File_iread(f, in, N, MPI_INT, &r)); break;
		case 1: OK(MPI_File_iread_all(f, in, N, MPI_INT, &r)); break;
		case 2: OK(MPI_File_read_all_begin(f, in, N, MPI_INT)); break;
		case 3: OK(MPI_File_iread_shared(f, in, N, MPI_INT, &r)); break; /* the part of any rank */
		default: OK(MPI_File_iread_at_all(f, mine, in, N, MPI_INT, &r));
		}
		if (form == 2) OK(MPI_File_read_all_end(f, in, &st));
		else OK(MPI_Wait(&r, &st));
		CHECK(count_of(&st, MPI_INT) == N, "form %d read %d", form, count_of(&st, MPI_INT));
		int first = form == 3 ? in[0] : out[0], sum = 0;
		for (int i = 0; i < N; i++) CHECK(in[i] == first + i, "form %d: element %d is %d", form, i, in[i]);
		OK(MPI_Allreduce(&first, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		CHECK(sum == 1000 * form * size + N * size * (size - 1) / 2, "form %d: first elements add up to %d", form, sum);
	}
	OK(MPI_File_close(&f));
}

static void errors(void) {
	MPI_File f = MPI_FILE_NULL;
	MPI_Errhandler h, got;
	MPI_Group g;
	MPI_Info info;
	int v[2] = {0}, n, mode, set;
	char text[32];
	/* The default handler of files returns, whatever that of communicators. */
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == MPI_ERRORS_RETURN, "another default handler");
	OK(MPI_Errhandler_free(&got));
	FAILS(MPI_File_open(MPI_COMM_WORLD, "/none/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE);
	FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f), MPI_ERR_AMODE);
	FAILS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_FILE_EXISTS);
	FAILS(MPI_File_delete("/none/such", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "cb_nodes", "2"));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, info, &f));
	OK(MPI_Info_free(&info));
	OK(MPI_File_get_info(f, &info));
	OK(MPI_Info_get(info, "cb_nodes", 31, text, &set));
	CHECK(set && strcmp(text, "2") == 0, "cb_nodes %s", text);
	OK(MPI_Info_free(&info));
	OK(MPI_File_get_amode(f, &mode));
	CHECK(mode == (MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE), "mode %d", mode);
	OK(MPI_File_get_group(f, &g));
	OK(MPI_Group_size(g, &n));
	CHECK(n == size, "group of %d", n);
	OK(MPI_Group_free(&g));
	n = MPI_File_write(f, v, 1, MPI_INT, MPI_STATUS_IGNORE);
	CHECK(class_of(n) == MPI_ERR_READ_ONLY || class_of(n) == MPI_ERR_ACCESS, "class %d", class_of(n));
	OK(MPI_File_create_errhandler(on_file, &h));
	OK(MPI_File_set_errhandler(f, h));
	OK(MPI_File_get_errhandler(f, &got));
	CHECK(got == h, "another handler");
	OK(MPI_Errhandler_free(&got));
	here = 0;
	n = MPI_File_read_at(f, -1, v, 1, MPI_INT, MPI_STATUS_IGNORE);
	CHECK(n != MPI_SUCCESS && here == class_of(n), "handler got %d, the call returned %d", here, class_of(n));
	OK(MPI_File_call_errhandler(f, MPI_ERR_IO));
	CHECK(here == MPI_ERR_IO, "handler got %d", here);
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
	FAILS(MPI_File_open(MPI_COMM_WORLD, "/none/such", MPI_MODE_RDONLY, MPI_INFO_NULL, (MPI_File[1]){0}), MPI_ERR_NO_SUCH_FILE);
	CHECK(here == -1, "the default handler was not called");
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == h, "another default handler");
	OK(MPI_Errhandler_free(&got));
	here = 0;
	OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
	CHECK(here == -1, "the default handler was not called");
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_File_close(&f));
	CHECK(access(name, F_OK) != 0, "%s exists after close", name);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	snprintf(name, sizeof name, "/tmp/conformance-file-%d", (int)getpid());
	OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
	views();
	shared();
	forms();
	errors();
	return done();
}
