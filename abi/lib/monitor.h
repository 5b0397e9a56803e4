#ifndef HALO_MONITOR_H
#define HALO_MONITOR_H

#include "compiler.h"

/* Called at the begin of each thread of Go's runtime with its number: 1 for the first. See monitor.c. */
HALO_HIDDEN void halo_monitor(int number);

/* Has the monitor interrupt other threads: several may be in calls at the same time. */
HALO_HIDDEN void halo_monitor_of_several(void);

#endif
