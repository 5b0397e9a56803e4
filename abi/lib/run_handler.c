#define _GNU_SOURCE
#include "run_handler.h"

#include <errno.h>

#include "jump.h"

typedef void function(int, siginfo_t *, void *);

void halo_run_handler(uintptr_t to, int number, siginfo_t *information, void *context) {
	int before = errno;
	struct halo_handler own = {halo_handler, context, 0, {0}};
	own.fault = information->si_code > 0 && halo_is_fault(number);
	if (__builtin_setjmp(own.place) == 0) {
		halo_handler = &own;
		/* A handler with one parameter ignores the other two. */
		((function *)to)(number, information, context);
		halo_handler = own.outer;
		return;
	}
	halo_handler = halo_handler->outer;
	errno = before;
}
