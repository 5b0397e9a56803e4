/* The watchdog of a process in polling mode: proc.Policy.Watchdog. */
#ifndef HALO_WATCH_H
#define HALO_WATCH_H

#include <stdint.h>

#include "compiler.h"

/* Sleeps for ticks in nanoseconds, each twice as long as the last one up to most. Returns when the process, given by its
 * shmfmt.ProcessRecord, has made no call in a tick, when its calls have only looked and something else waits, or when
 * PROCESS_STOP is not 0. */
HALO_HIDDEN void halo_watch(char *process, int64_t tick, int64_t most);

#endif
