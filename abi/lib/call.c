#include "call.h"

#include <string.h>

#include "attach.h"
#include "caller.h"
#include "enter.h"
#include "environment.h"
#include "fork.h"
#include "names.h"
#include "thread.h"

/* The return address of the innermost call of this thread. After a call in a callback the address
 * of the outer call is restored. */
static __thread void *noted;

int halo_call_noted(int number, int large, void *words, void *caller) {
	if (!halo_attached && halo_forked)
		return halo_call_in_child(number, words);
	if (halo_attached == HALO_HOLDS && strcmp(halo_names[number], "MPI_Abort") != 0) /* which takes no lock */
		return halo_call_in_handler(number);
	struct halo_stay stay;
	halo_prepare(&stay);
	void *before = noted;
	noted = halo_in_fortran((uintptr_t)caller) ? halo_caller_in_fortran(caller) : caller;
	int result = halo_enter_run(number, large | halo_environment_code(stay.own) << 8, words);
	noted = before;
	halo_from_go(&stay);
	return result;
}

uintptr_t halo_caller(void) { return (uintptr_t)noted; }
