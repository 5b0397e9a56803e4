/* Known bugs, for a test of the tests: see internal/planted, and fast_test.go, which compiles files with them. */
#ifndef HALO_PLANTED_H
#define HALO_PLANTED_H

#ifndef HALO_PLANTED
#define HALO_PLANTED(fault) 0
#endif

#endif
