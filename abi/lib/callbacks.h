/* Calls of functions of the program, which callbacks.c has. */
#ifndef HALO_CALLBACKS_H
#define HALO_CALLBACKS_H

#include <stdint.h>

#include "word.h"

/* Calls a function of the program by the number of its type in callbacks.csv. */
int haloInvoke(int callback, uintptr_t function, word *words);

#endif
