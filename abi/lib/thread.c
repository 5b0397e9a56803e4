#include "thread.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

__thread int halo_attached __attribute__((tls_model("initial-exec")));

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
