/* The threads of the program: whether they are attached to Go, and their numbers. */
#ifndef HALO_THREAD_H
#define HALO_THREAD_H

/*
 * 0 until the calling thread is attached to Go. Then 1, or 2 in checking mode, where every call
 * goes through halo_call_noted. HALO_HOLDS while the thread holds a lock of Go in C, the engine's or a window's: then
 * only a signal handler can call, and its call is refused, since it could wait for the lock. As cheap to read
 * as Go's own thread-local words.
 */
extern __thread int halo_attached __attribute__((tls_model("initial-exec")));

#define HALO_HOLDS 3

/* The number of the calling thread: from 0 on, and different from those of all other threads that
 * exist. It is negative if there is no memory for it. */
int halo_thread(void);

/* Makes the calling thread the main thread of MPI, and says whether it is. */
void halo_become_main(void);
int halo_is_main(void);

#endif
