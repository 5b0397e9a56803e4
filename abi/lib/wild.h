/*
 * Buffers without memory. A call whose buffer cannot be read or written says so in one line, or
 * by MPI_ERR_BUFFER where errors return, and the process ends by SIGSEGV in the call, so that a
 * core shows the caller.
 *
 * Before anything else a call accesses its buffers: the first and the last byte of what it sends,
 * and the first byte of what it receives, since programs often give larger counts than there is
 * memory for. Each access is one instruction, and a table says where to continue if it faults
 * (section halo_touch). A receive buffer is written as it was, by an instruction that is not
 * atomic: as long as the call lasts nobody else may access it. What cannot be accessed otherwise
 * (other types, arrays of counts, the middle of a buffer) is found where it is used: in Go, which
 * ends the process in the same way.
 *
 * The handler of SIGSEGV and SIGBUS is installed before Go's runtime installs its own, which
 * hands on faults of C. A program with a handler of its own has all faults, these included.
 */
#ifndef HALO_WILD_H
#define HALO_WILD_H

#include "fast.h"

#if defined __x86_64__
#define HALO_LOAD_BYTE "movb (%0), %%al\n\tmovb %%al, %1"
#define HALO_STORE_BYTE "orb $0, (%0)"
#elif defined __aarch64__
#define HALO_LOAD_BYTE "ldrb w9, [%0]\n\tstrb w9, %1"
#define HALO_STORE_BYTE "ldrb w9, [%0]\n2:\tstrb w9, [%0]"
#endif

#if defined __x86_64__
#define HALO_CLOBBERS "cc", "rax"
#define HALO_SECOND ""
#elif defined __aarch64__
#define HALO_CLOBBERS "w9"
#define HALO_SECOND "\t.long 2b - ., %l[wild] - .\n"
#endif

/* HALO_TOUCH continues at the label wild if there is no memory at an address. Memory stays as it
 * is, so the compiler may keep what it has loaded before. A byte that is read is stored in the
 * variable halo_touched on the stack, since valgrind leaves out loads of which nothing comes. */
#if defined HALO_LOAD_BYTE
#define HALO_TOUCH_(access, second, address)                                                      \
	__asm__ goto("1:\t" access "\n"                                                               \
	             "\t.pushsection halo_touch, \"a\"\n\t.balign 4\n\t.long 1b - ., %l[wild] - .\n" second \
	             "\t.popsection"                                                                  \
	             :                                                                                \
	             : "r"(address), "m"(halo_touched)                                                \
	             : HALO_CLOBBERS                                                                  \
	             : wild)
#define HALO_TOUCH_LOAD(address) HALO_TOUCH_(HALO_LOAD_BYTE, "", address)
#define HALO_TOUCH_STORE(address) HALO_TOUCH_(HALO_STORE_BYTE, HALO_SECOND, address)
#else
#define HALO_TOUCH_LOAD(address) do { if (0) goto wild; } while (0)
#define HALO_TOUCH_STORE(address) HALO_TOUCH_LOAD(address)
#endif

/* Inlined even into large functions: the probes are shorter than a call, and share their loads
 * of tables with the fast paths behind them. */
#define HALO_INLINE static inline __attribute__((always_inline))

/* halo_wild_source (store is 0) and halo_wild_sink (1), below, for types that are not in
 * halo_types or have padding. */
HALO_HIDDEN const void *halo_wild_layout(const void *buf, int64_t count, MPI_Datatype datatype, int store);

/* No buffer has more elements. The number of bytes of so many of a predefined type does not
 * overflow. */
#define HALO_MOST_ELEMENTS ((uint64_t)1 << 40)

/* The address in a buffer that is to be sent which cannot be read, NULL if there is none. */
HALO_INLINE const void *halo_wild_source(const void *buf, int64_t count, MPI_Datatype datatype) {
	struct halo_type type = halo_type(datatype);
	if (__builtin_expect(type.kind < HALO_DENSE, 0))
		return halo_wild_layout(buf, count, datatype, 0);
	const char *at = buf;
	char halo_touched;
	if ((uint64_t)count - 1 >= HALO_MOST_ELEMENTS || (uintptr_t)at < HALO_FIRST_PAGE)
		return NULL;
	HALO_TOUCH_LOAD(at);
	at += (uint64_t)count * type.size - 1;
	HALO_TOUCH_LOAD(at);
	return NULL;
wild:
	return at;
}

/* The address of a buffer that is to be received into which cannot be written, NULL if it can. */
HALO_INLINE const void *halo_wild_sink(void *buf, int64_t count, MPI_Datatype datatype) {
	if (__builtin_expect(halo_type(datatype).kind < HALO_DENSE, 0))
		return halo_wild_layout(buf, count, datatype, 1);
	if (count <= 0 || (uintptr_t)buf < HALO_FIRST_PAGE)
		return NULL;
	char halo_touched;
	HALO_TOUCH_STORE(buf);
	return NULL;
wild:
	return buf;
}

/* The address in some bytes that cannot be read, NULL if there is none. */
static inline const void *halo_wild_bytes(const void *base, int64_t size) {
	const char *at = base;
	char halo_touched;
	if (size <= 0 || (uintptr_t)at < HALO_FIRST_PAGE)
		return NULL;
	HALO_TOUCH_LOAD(at);
	at += size - 1;
	HALO_TOUCH_LOAD(at);
	return NULL;
wild:
	return at;
}

/* Whether the caller is the root of a collective, as far as C can tell. */
HALO_INLINE int halo_is_root(int root, MPI_Comm comm) {
	struct halo_entry *e = halo_comm(comm);
	return root == MPI_ROOT || (e != NULL && !e->inter && e->rank == root);
}

/*
 * Raises the error of a call: words are its arguments, of which the numbered one, of that name,
 * is a buffer. It returns the error code, or ends the process.
 */
HALO_HIDDEN __attribute__((cold)) int halo_wild(int number, int large, void *words, int parameter, const char *name, const void *address, int store);

/* What Go returns to have the process end: see halo_fault_at. */
#define HALO_FATAL (-2)

/* Ends the process by the fault that an access to the address given by Go is. */
HALO_HIDDEN __attribute__((cold, noreturn)) void halo_end_by_fault(void);

/* Go says at which address, and whether it cannot be written, the process has to end. */
HALO_HIDDEN void halo_fault_at(uintptr_t address, int store);

/* A condition that is nearly always false. */
#define HALO_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
