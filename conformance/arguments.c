/* The arguments of the program reach all processes, and MPI_Init takes none (ENV-09). */
#include "check.h"

int main(int argc, char **argv) {
	int before = argc;
	begin(NULL, NULL);
	CHECK(before == 3 && argc == 3, "%d arguments, then %d", before, argc);
	if (argc == 3) CHECK(!strcmp(argv[1], "one") && !strcmp(argv[2], "two") && argv[3] == NULL, "%s, %s", argv[1], argv[2]);
	return done();
}
