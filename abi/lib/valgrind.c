#include "fast.h"

/*
 * Whether the process runs on valgrind. The processor does nothing in these instructions, which
 * valgrind knows: the request is in rax, and its answer comes in rdx.
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
