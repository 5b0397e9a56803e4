/* Threads of the program enter Go for the first time. */
#ifndef HALO_ATTACH_H
#define HALO_ATTACH_H

#include "compiler.h"
#include "environment.h"
#include "thread.h"

/* Attaches the calling thread to Go, one thread at a time: see attach.c. */
HALO_HIDDEN void halo_attach(void);

/* Prepares a call of Go: attaches the thread, and sets Go's environment until halo_from_go. */
static inline void halo_prepare(struct halo_stay *stay) {
	halo_to_go(stay);
	if (__builtin_expect(!halo_attached, 0))
		halo_attach();
}

#endif
