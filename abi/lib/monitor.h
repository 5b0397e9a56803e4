#ifndef HALO_MONITOR_H
#define HALO_MONITOR_H

#include "fast.h"

/* Called at the begin of each thread of Go's runtime with its number: 1 for the first. See monitor.c. */
HALO_HIDDEN void halo_monitor(int number);

#endif
