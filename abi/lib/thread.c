#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/*
 * Threads by small numbers, for operations of their own: one that ends leaves its number to
 * the next, so that there are never more numbers than there were threads at a time.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its value is the number of the thread, plus 1 */
static int *left;         /* numbers of threads that have ended */
static int lefts, room, given;
static __thread int own;  /* the same as the value of key */

static void leave(void *number) {
	pthread_mutex_lock(&lock);
	left[lefts++] = (int)(intptr_t)number - 1; /* there is room for all that were given */
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
 * A thread of C that comes to Go for the first time takes a place that was made for the next
 * such thread, and makes another once it is inside. Those that come meanwhile would not
 * sleep, but look again every microsecond: with 32 threads that come at once it takes ten
 * milliseconds, and seconds if they are scheduled in real time, because those who look keep
 * from the cores who is inside. So they come one after the other. Nobody waits in there for
 * anything that another thread of C does.
 */
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
__thread int halo_attached __attribute__((tls_model("initial-exec")));

extern void haloAttach(void);

/* Of a static library only files are linked that others name: this names those that consist of
 * a constructor. */
extern const char halo_stdio_linked, halo_limits_linked;
__attribute__((used)) static const char *const constructors[] = {&halo_stdio_linked, &halo_limits_linked};

void halo_attach(void) {
	pthread_mutex_lock(&door);
	haloAttach();
	pthread_mutex_unlock(&door);
	const char *check = getenv("HALO_CHECK");
	halo_attached = check != NULL && strcmp(check, "1") == 0 ? 2 : 1;
}

/* A function of the program that a call calls may call in its turn: so the one before is noted
 * again. */
static __thread void *noted;

int halo_call_noted(int number, int large, void *words, void *caller) {
	if (!halo_attached && halo_forked)
		return halo_call_in_child(number, words);
	struct halo_stay stay;
	halo_prepare(&stay);
	void *before = noted;
	noted = caller;
	int result = halo_enter_run(number, large | halo_environment_code(stay.own) << 8, words);
	noted = before;
	halo_from_go(&stay);
	return result;
}

uintptr_t halo_caller(void) { return (uintptr_t)noted; }
