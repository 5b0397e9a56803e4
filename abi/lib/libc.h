/* Functions of the C library for which the library has others of the same name. */
#ifndef HALO_LIBC_H
#define HALO_LIBC_H

/* The C library's sigaction, where the library's own (handler.c) is not meant. */
struct sigaction;
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

#endif
