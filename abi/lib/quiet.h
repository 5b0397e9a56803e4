/*
 * Whether anything has arrived but in the ring that a call waits for. As long as nothing has, a receive looks on in C: each
 * entry into Go has the monitor of Go's runtime interrupt the thread later. See docs/waiting.md.
 */
#ifndef HALO_QUIET_H
#define HALO_QUIET_H

#include <stdint.h>

#include "compiler.h"

/* Whether a poll of Go would find nothing but what is in the ring of one peer, NULL for none: no frame of another one, no
 * first frame, no offer, no failure, and no way but through memory. The lock is held. */
HALO_HIDDEN int halo_quiet(const char *process, const char *peer);

/* The second part of look, for a call that waits: looks up to PROCESS_LOOKS_QUIET times in all, as long as everything
 * else is quiet. */
HALO_HIDDEN uint64_t halo_look_on(const char *process, const char *peer, const uint64_t *entry);

/* Whether something waits for which the calls of the program, all of which have only looked, do not look: what is new
 * or comes otherwise, or a frame that was the next one of its ring already when this function was called last. The watchdog
 * calls it, without the lock. */
HALO_HIDDEN int halo_waiting(const char *process);

#endif
