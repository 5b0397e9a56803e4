/*
 * Buffers without accessible memory. A call whose buffer cannot be read or written returns
 * MPI_ERR_BUFFER where errors return. Otherwise it reports the error in one line, and the process
 * ends by SIGSEGV inside the call, so that a core dump shows the caller.
 *
 * Before anything else a call probes its buffers: it reads the first and the last byte of a send
 * buffer, and writes the first byte of a receive buffer, since programs often pass larger counts
 * than there is memory for. Each access is one instruction, and a table says where to continue if
 * it faults (section halo_touch). The write stores the same value, by an instruction that is not
 * atomic: during the call nobody else may access the buffer. Other inaccessible memory (other
 * types, arrays of counts, the middle of a buffer) faults where it is used: in Go, which ends the
 * process in the same way.
 *
 * The handler of SIGSEGV and SIGBUS is installed before Go's runtime installs its own, which passes
 * on faults in C code. If the program installs its own handler, that gets all faults, including
 * these.
 */
#ifndef HALO_WILD_H
#define HALO_WILD_H

#include <stddef.h>
#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"
#include "copy.h"
#include "datatype.h"
#include "handle_table.h"

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

/* HALO_TOUCH continues at the label wild if the memory at an address is not accessible. It does not
 * change memory, so the compiler may keep values that it has loaded. The byte that it reads is
 * stored in the variable halo_touched on the stack, since valgrind skips loads without effect. */
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

/* halo_wild_source (store is 0) and halo_wild_sink (store is 1), below, for types that are not in
 * halo_types or have padding. */
HALO_HIDDEN const void *halo_wild_layout(const void *buf, int64_t count, MPI_Datatype datatype, int store);

/* No buffer has more elements. The size in bytes of so many elements of a predefined type does not
 * overflow. */
#define HALO_MOST_ELEMENTS ((uint64_t)1 << 40)

/* Returns an address in a send buffer that cannot be read, or NULL. It is inlined, since a probe is shorter than a call,
 * and shares its loads from tables with the fast path that follows. */
HALO_INLINE const void *halo_wild_source(const void *buf, int64_t count, MPI_Datatype datatype) {
	struct halo_type type = halo_type(datatype);
	if (__builtin_expect(type.kind < HALO_DENSE, 0))
		return halo_wild_layout(buf, count, datatype, 0);
	const char *at = buf;
	char halo_touched;
	if ((uint64_t)count - 1 >= HALO_MOST_ELEMENTS || !HALO_THERE(at))
		return NULL;
	HALO_TOUCH_LOAD(at);
	at += (uint64_t)count * type.size - 1;
	HALO_TOUCH_LOAD(at);
	return NULL;
wild:
	return at;
}

/* Returns an address in a receive buffer that cannot be written, or NULL. */
HALO_INLINE const void *halo_wild_sink(void *buf, int64_t count, MPI_Datatype datatype) {
	if (__builtin_expect(halo_type(datatype).kind < HALO_DENSE, 0))
		return halo_wild_layout(buf, count, datatype, 1);
	if (count <= 0 || !HALO_THERE(buf))
		return NULL;
	char halo_touched;
	HALO_TOUCH_STORE(buf);
	return NULL;
wild:
	return buf;
}

/* Returns an address in size bytes that cannot be read, or NULL. */
static inline const void *halo_wild_bytes(const void *base, int64_t size) {
	const char *at = base;
	char halo_touched;
	if (size <= 0 || !HALO_THERE(at))
		return NULL;
	HALO_TOUCH_LOAD(at);
	at += size - 1;
	HALO_TOUCH_LOAD(at);
	return NULL;
wild:
	return at;
}

/* Whether the caller is the root of a collective; 0 also if C does not know the communicator. */
HALO_INLINE int halo_is_root(int root, MPI_Comm comm) {
	struct halo_entry *e = halo_comm(comm);
	return root == MPI_ROOT || (e != NULL && !e->inter && e->rank == root);
}

/*
 * Raises the error of a call with an inaccessible buffer, and returns the error code or ends the
 * process. words are the arguments of the call; parameter and name identify the buffer.
 */
HALO_HIDDEN __attribute__((cold)) int halo_wild(int number, int large, void *words, int parameter, const char *name, const void *address, int store);

/* Go returns this instead of an error code if C has to end the process: see halo_fault_at. */
#define HALO_FATAL (-2)

/* Ends the process by an access to the address of halo_fault_at, which faults. */
HALO_HIDDEN __attribute__((cold, noreturn)) void halo_end_by_fault(void);

/* Go calls this with the address of the fault by which the process has to end, and whether the
 * access is a store. */
HALO_HIDDEN void halo_fault_at(uintptr_t address, int store);

#endif
