#include "valgrind.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Whether the process runs under valgrind. These instructions have no effect on a processor, but
 * valgrind recognises them: rax points to the request, and rdx receives the answer.
 */
int halo_on_valgrind(void) {
#if defined __x86_64__
	volatile uintptr_t request[6] = {0x1001};
	uintptr_t answer = 0;
	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
	                 : "=d"(answer)
	                 : "a"(request), "0"(answer)
	                 : "cc", "memory");
	return answer != 0;
#else
	return 0;
#endif
}

/*
 * Valgrind tells programs that the processor has the instruction rdtscp. If the processor lacks it,
 * as in some virtual machines, valgrind ends a program that uses it with SIGILL. Go's runtime would
 * use it. Therefore GODEBUG disables such instructions under valgrind: all of them, by cpu.all=off,
 * since golang.org/x/sys/cpu complains about cpu.rdtscp=off, which it does not know.
 *
 * The runtime reads GODEBUG from the original environment of the process, so setenv has no effect on
 * it. The option is appended to the variable there. Without a GODEBUG it replaces a variable that
 * valgrind sets for the C++ library of gcc 3.3.
 *
 * This constructor runs before Go's runtime, because constructors with a priority run before those
 * without. The value is not on the heap: the first blocks of the heap would then lie beside stacks
 * of Go, where valgrind does not see accesses beyond a block.
 */
__attribute__((constructor(101))) static void halo_no_rdtscp(int argc, char **argv) {
	static const char name[] = "GODEBUG=", unused[] = "GLIBCPP_FORCE_NEW=";
	static char value[1024];
	if (argv == NULL || !halo_on_valgrind())
		return;
	char **place = NULL;
	const char *own = "";
	for (char **v = argv + argc + 1; *v != NULL; v++) {
		if (strncmp(*v, name, sizeof name - 1) == 0) {
			place = v;
			own = *v + sizeof name - 1;
			break;
		}
		if (strncmp(*v, unused, sizeof unused - 1) == 0)
			place = v;
	}
	if (place != NULL && (size_t)snprintf(value, sizeof value, "%s%s%scpu.all=off", name, own, *own != '\0' ? "," : "") < sizeof value)
		*place = value;
}
