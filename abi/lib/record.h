/*
 * Fields of the records that the engine shares with C (internal/shmfmt): their addresses, and loads and stores of them.
 * fast_layout.h has their offsets.
 *
 * Loads and atomic operations of Go are sequentially consistent. C uses the same memory order, so that accesses of C and
 * Go are atomic with respect to each other, in one process and between processes. The comment on an atomic operation names
 * its partner in Go or C.
 */
#ifndef HALO_RECORD_H
#define HALO_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fast_layout.h"

/* The address of a field of a type at an offset from the base, and an atomic load of the field. */
#define HALO_AT(type, base, place) ((type *)((char *)(base) + (place)))
#define HALO_LOAD(type, base, place) __atomic_load_n(HALO_AT(type, base, place), __ATOMIC_SEQ_CST)

/* A field by the name that its offset has in fast_layout.h after HALO_, for plain loads and stores. */
#define U64(base, place) (*HALO_AT(uint64_t, base, HALO_##place))
#define I64(base, place) (*HALO_AT(int64_t, base, HALO_##place))
#define U32(base, place) (*HALO_AT(uint32_t, base, HALO_##place))
#define I32(base, place) (*HALO_AT(int32_t, base, HALO_##place))
#define U16(base, place) (*HALO_AT(uint16_t, base, HALO_##place))
#define U8(base, place) (*HALO_AT(uint8_t, base, HALO_##place))
#define BOOL(base, place) (*HALO_AT(bool, base, HALO_##place))
#define POINTER(base, place) (*HALO_AT(char *, base, HALO_##place))

#endif
