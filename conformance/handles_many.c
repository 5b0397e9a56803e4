/* Objects come and go again and again, their number an argument, and leave no memory (Halo). */
#include "check.h"

/* resident is the memory of the process in pages. */
static long resident(void) {
	long all = 0, here = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%ld %ld", &all, &here) != 2) here = 0;
	if (f) fclose(f);
	return here;
}

static void one(int i) {
	MPI_Datatype t;
	MPI_Group g, h;
	MPI_Info info;
	MPI_Request r;
	int v = i, w = -1;
	OK(MPI_Type_vector(2, 1, 3, MPI_INT, &t));
	OK(MPI_Type_free(&t));
	OK(MPI_Comm_group(MPI_COMM_SELF, &g));
	OK(MPI_Group_incl(g, 1, (int[]){0}, &h));
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&h));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_free(&info));
	OK(MPI_Irecv(&w, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
	OK(MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(w == i, "%d", w);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 20000;
	for (int i = 0; i < n / 5; i++) one(i);
	long before = resident();
	for (int i = 0; i < n; i++) one(i);
	long after = resident();
	CHECK(after < before + 4096, "%ld pages, %ld before", after, before); /* 16 MiB */
	return done();
}
