#include "fast_integer.h"

uintptr_t halo_converted[HALO_CONVERTED];
