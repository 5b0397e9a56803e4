/* MPI_Is_thread_main is true in the thread that has initialised MPI, also if that is not the first one of
 * the process, and false in all others, also in those that begin after the main thread has ended (ENV-02).
 * In a process with sessions only, the main thread has opened the first one. */
#include "check.h"

#include <pthread.h>

static MPI_Session session = MPI_SESSION_NULL;
static int level;

static void *is_not(void *unused) {
	int flag = -1;
	OK(MPI_Is_thread_main(&flag));
	CHECK(flag == 0, "%d in a thread that has not initialised MPI", flag);
	return unused;
}

static void is(void) {
	for (int k = 0; k < 2; k++) {
		int flag = -1;
		pthread_t t;
		OK(MPI_Is_thread_main(&flag));
		CHECK(flag == 1, "%d in the thread that has initialised MPI", flag);
		pthread_create(&t, NULL, is_not, NULL);
		pthread_join(t, NULL);
	}
}

/* an attribute's callback runs in the thread that makes the call */
static int deleted(MPI_Comm c, int key, void *value, void *extra) {
	int flag = -1;
	OK(MPI_Is_thread_main(&flag));
	CHECK(flag == 1, "%d in a callback of the main thread", flag);
	(void)c, (void)key, (void)value, (void)extra;
	return MPI_SUCCESS;
}

static void *initialise(void *unused) {
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	is();
	return unused;
}

static void *open(void *unused) {
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	is();
	return unused;
}

static void elsewhere(void *(*what)(void *)) {
	pthread_t t;
	pthread_create(&t, NULL, what, NULL);
	pthread_join(t, NULL);
}

int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "session") == 0) { /* opened first, by a thread that has ended when MPI_Init makes this one main */
		elsewhere(open);
		is_not(NULL);
		MPI_Session second;
		OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
		is_not(NULL);
		OK(MPI_Session_finalize(&second));
	}
	if (strcmp(how, "elsewhere") == 0) {
		elsewhere(initialise);
		is_not(NULL);
		elsewhere(is_not);
	} else {
		int key;
		initialise(NULL);
		OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL));
		OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
		OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
		OK(MPI_Comm_free_keyval(&key));
	}
	if (session != MPI_SESSION_NULL) OK(MPI_Session_finalize(&session));
	return done();
}
