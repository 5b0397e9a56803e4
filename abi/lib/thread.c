#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "shim.h"
#include "signal_stack.h"

/*
 * Threads have small numbers, for windows with thread scope. A thread that ends leaves its number
 * to a later thread, so that there are never more numbers than threads existed at one time.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its value is the number of the thread, plus 1 */
static int *left;         /* numbers of threads that have ended */
static int lefts, room, given;
static __thread int own;  /* the same as the value of key */

static void leave(void *number) {
	pthread_mutex_lock(&lock);
	left[lefts++] = (int)(intptr_t)number - 1; /* left has room for all numbers that were given */
	pthread_mutex_unlock(&lock);
}

static void start(void) { pthread_key_create(&key, leave); }

int halo_thread(void) {
	if (own != 0)
		return own - 1;
	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	int number = -1;
	if (lefts > 0) {
		number = left[--lefts];
	} else if (given < room) {
		number = given++;
	} else {
		int *more = realloc(left, (size_t)(2 * room + 64) * sizeof *left);
		if (more != NULL) {
			left = more;
			room = 2 * room + 64;
			number = given++;
		}
	}
	pthread_mutex_unlock(&lock);
	if (number >= 0 && pthread_setspecific(key, (void *)(intptr_t)(number + 1)) == 0)
		own = number + 1;
	return number;
}

/*
 * The main thread of MPI has the latest turn as its own. A number of halo_thread would not do: a later
 * thread gets that of a main thread that has ended.
 */
static int turns; /* accessed atomically */
static __thread int turn;

void halo_become_main(void) { turn = __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED); }
int halo_is_main(void) { return turn != 0 && turn == __atomic_load_n(&turns, __ATOMIC_RELAXED); }

/*
 * A thread of C that enters Go for the first time takes the runtime's spare M, and makes another
 * spare M once it is in Go. Threads that enter meanwhile do not sleep, but poll every microsecond:
 * if 32 threads enter at once this takes ten milliseconds, and seconds with real-time scheduling,
 * because the polling threads keep the cores from the thread in Go. The mutex lets threads enter
 * one after the other. It cannot cause a deadlock, because haloAttach waits for no other thread of
 * C.
 */
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
__thread int halo_attached __attribute__((tls_model("initial-exec")));

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
