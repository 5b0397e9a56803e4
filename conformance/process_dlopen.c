/* The program loads the library at run time and finds all symbols by name, as languages other than C
 * do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void *library;

static void *find(const char *name) {
	void *p = dlsym(library, name);
	if (!p) fprintf(stderr, "there is no %s\n", name);
	return p;
}

/* Converts a data pointer from dlsym to a function pointer, as POSIX recommends. */
#define FIND(type, name) \
	type name; \
	void *at_##name = find("MPI_" #name); \
	memcpy(&name, &at_##name, sizeof name)

int main(int argc, char **argv) {
#ifdef __x86_64__
	/* Threads that the library starts must not inherit the traps and rounding of this thread. */
	unsigned odd = 0x4000, then = 0, usual = 0x1f80;
	__asm__ volatile("ldmxcsr %0" : : "m"(odd));
#endif
	if (argc < 2 || !(library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#ifdef __x86_64__
	__asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(then) : "m"(usual));
	if ((then & 0xffc0) != odd) fprintf(stderr, "the environment is %#x, was %#x\n", then, odd);
#endif
	typedef int init(int *, char ***);
	typedef int number(MPI_Comm, int *);
	typedef int allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
	typedef int finalize(void);
	FIND(init *, Init);
	FIND(number *, Comm_size);
	FIND(allreduce *, Allreduce);
	FIND(finalize *, Finalize);
	int one = 1, all = 0, size = 0;
	Init(&argc, &argv);
	Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 500; i++) Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	Finalize();
	dlclose(library);
	return all != size || size != 2;
}
