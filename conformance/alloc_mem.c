/* Memory that MPI allocates, as an array of C: example 8.3 of the standard's draft (MEM-09). */
#include "check.h"

int main(int argc, char **argv) {
	float (*f)[100][100];
	/* no memory is allocated */
	begin(&argc, &argv);
	OK(MPI_Alloc_mem(sizeof(float) * 100 * 100, MPI_INFO_NULL, &f));
	/* memory allocated */
	for (int i = 0; i < 100 * 100; i++)
		(*f)[i / 100][i % 100] = 1;
	(*f)[5][3] = 2.71f;
	double sum = 0;
	for (int i = 0; i < 100 * 100; i++)
		sum += (*f)[i / 100][i % 100];
	CHECK(sum > 10001.70 && sum < 10001.72, "%f", sum);
	OK(MPI_Free_mem(f));
	return done();
}
