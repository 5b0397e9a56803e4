#include "attach.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "signal_mask.h"
#include "signal_stack.h"
#include "thread.h"

/*
 * A thread of C that enters Go for the first time takes the runtime's spare M, and makes another
 * spare M once it is in Go. Threads that enter meanwhile do not sleep, but poll every microsecond:
 * if 32 threads enter at once this takes ten milliseconds, and seconds with real-time scheduling,
 * because the polling threads keep the cores from the thread in Go. The mutex lets threads enter
 * one after the other. It cannot cause a deadlock, because haloAttach waits for no other thread of
 * C.
 */
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

extern void haloAttach(void);

/* The linker takes only those files of a static library whose symbols are used. These references
 * make it take the files that only contain a constructor. */
extern const char halo_stdio_linked, halo_limits_linked, halo_signal_mask_linked, halo_handler_linked;
__attribute__((used)) static const char *const constructors[] = {&halo_stdio_linked, &halo_limits_linked, &halo_signal_mask_linked, &halo_handler_linked};

void halo_attach(void) {
	sigset_t before;
	halo_signal_stack();
	pthread_mutex_lock(&door);
	halo_block_after_go(&before);
	haloAttach();
	halo_unblock(&before);
	pthread_mutex_unlock(&door);
	const char *check = getenv("HALO_CHECK");
	halo_attached = check != NULL && strcmp(check, "1") == 0 ? 2 : 1;
	if (halo_attached == 2)
		halo_find_fortran();
}
