/*
 * leave_callback: leaves a callback, which is an error handler or a reduction function, by an
 * exception or by longjmp, as the first argument says. With "jump" the second argument is the
 * number of repetitions, and the program prints the growth of its data in KiB.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <stdexcept>

static jmp_buf out;

static void throws(MPI_Comm *, int *, ...) { throw std::runtime_error("thrown"); }
static void throwsInOperation(void *, void *, int *, MPI_Datatype *) { throw std::runtime_error("thrown"); }
static void jumps(MPI_Comm *, int *, ...) { longjmp(out, 1); }
static void returns(MPI_Comm *, int *, ...) {}

static long resident() {
	long kib = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f)) sscanf(line, "VmRSS: %ld", &kib);
	if (f) fclose(f);
	return kib;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	volatile int left = argc > 2 ? atoi(argv[2]) : 0;
	int x = 0, y = 0;
	MPI_Op op;
	MPI_Errhandler handler;
	MPI_Init(&argc, &argv);
	MPI_Op_create(throwsInOperation, 1, &op);
	MPI_Comm_create_errhandler(strcmp(what, "handler") == 0 ? throws : strcmp(what, "jump") == 0 ? jumps : returns, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	try {
		if (strcmp(what, "handler") == 0) MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
		if (strcmp(what, "operation") == 0) MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
		if (strcmp(what, "after") == 0 && MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD) != MPI_SUCCESS) throw std::runtime_error("thrown");
	} catch (std::exception &e) {
		printf("caught\n");
	}
	if (strcmp(what, "jump") == 0) {
		long before = resident();
		setjmp(out); /* the handler jumps here */
		if (left-- > 0) MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
		printf("%ld\n", resident() - before);
	}
	MPI_Op_free(&op);
	MPI_Errhandler_free(&handler);
	MPI_Finalize();
	return 0;
}
