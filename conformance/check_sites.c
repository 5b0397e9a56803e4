/* In checking mode a report names the two conflicting calls by file and line, also the call of the
 * other process. An argument names the conflict; each call that a report must name stands on a line
 * with "first" or "second" in a comment (Halo). The file contains a program and a library: with
 * -DPART=1 it compiles to main, with -DPART=2 to the calls, otherwise to both. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int put_first(MPI_Win win, int *v);
int put_second(MPI_Win win, int *v);
int get_first(MPI_Win win, int *v);

#if PART != 1
int put_first(MPI_Win win, int *v) {
	int code = MPI_Put(v, 2, MPI_INT, 1, 4, 2, MPI_INT, win); /* put first */
	return code;
}

int put_second(MPI_Win win, int *v) {
	int code = MPI_Put(v,
		2, MPI_INT, 1, 5, 2, MPI_INT, win); /* put second */
	return code;
}

int get_first(MPI_Win win, int *v) {
	int code = MPI_Get(v, 2, MPI_INT, 1, 4, 2, MPI_INT, win); /* get first */
	return code;
}

#endif

#if PART != 2
static void report(int code) {
	char text[MPI_MAX_ERROR_STRING];
	int length;
	if (code == MPI_SUCCESS) return;
	MPI_Error_string(code, text, &length);
	printf("class %d\n", code);
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra) {
	int size;
	(void)key, (void)value, (void)extra;
	return MPI_Comm_size(comm, &size);
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "nothing";
	int rank, v[4] = {1, 2, 3, 4}, key, *mem;
	MPI_Win win;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_name(win, "field");
	if (strcmp(what, "returns") == 0) MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	/* a call whose callback makes another call */
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	MPI_Comm_delete_attr(MPI_COMM_SELF, key);
	if (strcmp(what, "reuse") == 0) {
		if (rank == 0) {
			put_first(win, v);
			v[0] = 9;
		}
		MPI_Win_fence(0, win); /* reuse second */
	} else if (strcmp(what, "result") == 0) {
		if (rank == 0) {
			get_first(win, v);
			v[1] = 9;
		}
		MPI_Win_fence(0, win); /* result second */
	} else if (strcmp(what, "store") == 0) {
		if (rank == 0) get_first(win, v);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1) mem[5] = 9;
		MPI_Win_fence(0, win); /* store second */
	} else {
		if (rank == 0) report(put_first(win, v));
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 2) report(put_second(win, v));
	}
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Comm_free_keyval(&key);
	MPI_Finalize();
	return 0;
}
#endif
