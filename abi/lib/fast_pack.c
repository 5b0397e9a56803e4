#include "fast_pack.h"

#include <stddef.h>
#include <string.h>

#include "copy.h"
#include "datatype.h"
#include "handle_table.h"
#include "kernel.h"
#include "record.h"

/*
 * MPI_Pack and MPI_Unpack of short data. The functions do step by step what the functions of
 * internal/dtype do that the comments name (buffer.go, transfer.go, strided.go and mover.go, which
 * give the reasons), with the same loop programs, and with the same vector instructions if the
 * machine has them.
 */

/* The functions with vector instructions that move bytes: dtype.Vectors. */
static struct {
	const void *sparse, *blocks, *string, *every_other, *gather;
} movers;

void halo_know_movers(uintptr_t sparse, uintptr_t blocks, uintptr_t string, uintptr_t every_other, uintptr_t gather) {
	movers.sparse = (const void *)sparse;
	movers.blocks = (const void *)blocks;
	movers.string = (const void *)string;
	movers.every_other = (const void *)every_other;
	movers.gather = (const void *)gather;
}

static int kind(const char *node) { return (int)I64(node, NODE_KIND); }

/* The node in a loop or a list. */
static const char *sub_of(const char *node) { return node + I64(node, NODE_SUB); }

/* A list that a node has. */
#define LIST(node, place) ((const int64_t *)((node) + I64(node, place)))

static uint64_t magnitude(int64_t n) { return n < 0 ? -(uint64_t)n : (uint64_t)n; }

/* strides: n blocks at constant distances, to copy from one place to another. */
struct strides {
	char *to;
	const char *from;
	int64_t to_step, from_step, n;
};

static void vectors(const void *function, const void *to, const void *from, int64_t third, int64_t fourth, int64_t fifth, int64_t sixth) {
	const uintptr_t words[6] = {(uintptr_t)to, (uintptr_t)from, (uintptr_t)third, (uintptr_t)fourth, (uintptr_t)fifth, (uintptr_t)sixth};
	halo_kernel(function, words);
}

/* mover.blocks: blocks of more than 32 bytes */
static void blocks(char *to, const char *from, int64_t to_step, int64_t from_step, int64_t n, int64_t size) {
	int sparse = size <= 256 && to_step % 1024 == 0 && n > 8;
	vectors(sparse ? movers.sparse : movers.blocks, to, from, to_step, from_step, n, size);
}

/* mover.byString */
static void by_string(char *to, const char *from, const char *next, int64_t n) {
	int64_t head = (int64_t)(-(uintptr_t)to % 64);
	if (head > 0)
		memcpy(to, from, 64);
	vectors(movers.string, to + head, from + head, (intptr_t)next, n - head, 0, 0);
}

/* mover.run, and mover.sweep of long runs */
static void move(char *to, const char *from, int64_t n) {
	int64_t skew, pieces, k, step;
	if (n < HALO_STRING_COPY || n >= HALO_STREAM_COPY || movers.string == NULL) {
		memcpy(to, from, (size_t)n);
		return;
	}
	skew = (int64_t)((uintptr_t)to % 64);
	pieces = (skew + n + HALO_SWEEP_PIECE - 1) / HALO_SWEEP_PIECE;
	step = halo_sweep_down(to) ? -1 : 1;
	for (k = step < 0 ? pieces - 1 : 0; 0 <= k && k < pieces; k += step) {
		int64_t start = k * HALO_SWEEP_PIECE - skew, end = start + HALO_SWEEP_PIECE;
		start = start > 0 ? start : 0;
		end = end < n ? end : n;
		if (end - start < HALO_SHORT_COPY)
			memcpy(to + start, from + start, (size_t)(end - start));
		else
			by_string(to + start, from + start, from + start, end - start);
	}
}

/* copyEach and copyEnds: EACH copies blocks of one size, ENDS blocks of one to two times half. */
#define EACH(size) \
	for (int64_t i = s.n; i > 0; i--, s.to += s.to_step, s.from += s.from_step) \
		memcpy(s.to, s.from, size);
#define ENDS(half) \
	for (int64_t i = s.n; i > 0; i--, s.to += s.to_step, s.from += s.from_step) { \
		memcpy(s.to, s.from, half); \
		memcpy(s.to + size - half, s.from + size - half, half); \
	}

/* strides.words */
static void words(struct strides s) {
	if (movers.every_other != NULL && s.n >= HALO_MANY_WORDS && s.to_step == 8 && s.from_step == 16) {
		int64_t k = (s.n - 1) / 8 * 8;
		vectors(movers.every_other, s.to, s.from, k, 0, 0, 0);
		s.to += 8 * k;
		s.from += 16 * k;
		s.n -= k;
	} else if (movers.gather != NULL && s.n >= 2 * HALO_MANY_WORDS && magnitude(s.from_step) >= 64) {
		vectors(movers.gather, s.to, s.from, s.to_step, s.from_step, s.n, 0);
		return;
	}
	for (; s.n >= 4; s.n -= 4, s.to += 4 * s.to_step, s.from += 4 * s.from_step) {
		memcpy(s.to, s.from, 8);
		memcpy(s.to + s.to_step, s.from + s.from_step, 8);
		memcpy(s.to + 2 * s.to_step, s.from + 2 * s.from_step, 8);
		memcpy(s.to + 3 * s.to_step, s.from + 3 * s.from_step, 8);
	}
	EACH(8)
}

/* strides.copy */
static void copy(struct strides s, int64_t size) {
	if (size == 8)
		words(s);
	else if (size >= HALO_STRING_COPY)
		for (; s.n > 0; s.n--, s.to += s.to_step, s.from += s.from_step)
			move(s.to, s.from, size);
	else if (size >= HALO_STRING_BLOCK && s.n * size >= HALO_STRING_COPY && movers.string != NULL)
		for (; s.n > 0; s.n--, s.to += s.to_step, s.from += s.from_step)
			by_string(s.to, s.from, s.from + s.from_step, size);
	else if (size > 32 && movers.blocks != NULL)
		blocks(s.to, s.from, s.to_step, s.from_step, s.n, size);
	else if (size > 32)
		EACH((size_t)size)
	else if (size == 32)
		EACH(32)
	else if (size == 24)
		EACH(24)
	else if (size > 16)
		ENDS(16)
	else if (size == 16)
		EACH(16)
	else if (size > 8)
		ENDS(8)
	else if (size == 4)
		EACH(4)
	else if (size > 4)
		ENDS(4)
	else if (size == 2)
		EACH(2)
	else if (size == 3)
		ENDS(2)
	else
		EACH(1)
}

/* transfer: positions are offsets from the two bases. */
struct transfer {
	char *mem, *packed;
	int unpack;
};

/* transfer.strided: step is the distance of the packed blocks. */
static void strided(const struct transfer *t, int64_t off, int64_t stride, int64_t packed, int64_t step, int64_t n, int64_t size) {
	struct strides pack = {t->packed + packed, t->mem + off, step, stride, n};
	struct strides unpack = {t->mem + off, t->packed + packed, stride, step, n};
	copy(t->unpack ? unpack : pack, size);
}

/* transfer.run */
static void run(const struct transfer *t, int64_t off, int64_t packed, int64_t size) {
	char *mem = t->mem + off, *p = t->packed + packed;
	if (size == 8)
		memcpy(t->unpack ? mem : p, t->unpack ? p : mem, 8);
	else
		move(t->unpack ? mem : p, t->unpack ? p : mem, size);
}

/* node.columnar */
static int columnar(const char *node, int64_t count) {
	if (I64(node, NODE_RUNS) > HALO_COLUMN_RUNS || I64(node, NODE_SIZE) > HALO_COLUMN_SIZE * I64(node, NODE_RUNS) || count < 4)
		return 0;
	switch (kind(node)) {
	case HALO_NODE_IS_PIECES:
		return 1;
	case HALO_NODE_IS_LIST:
		return kind(sub_of(node)) == HALO_NODE_IS_RUN;
	case HALO_NODE_IS_LOOP:
		return kind(sub_of(node)) == HALO_NODE_IS_RUN && I64(node, NODE_N) < HALO_SHORT_LOOP && I64(node, NODE_N) < count;
	}
	return 0;
}

/* transfer.columns */
static void columns(const struct transfer *t, const char *node, int64_t stride, int64_t off, int64_t packed, int64_t rows) {
	const int64_t *offs = LIST(node, NODE_OFFS), *cum = LIST(node, NODE_CUM);
	int64_t size = I64(node, NODE_SIZE);
	int listed = kind(node) == HALO_NODE_IS_LIST;
	if (kind(node) == HALO_NODE_IS_PIECES) {
		for (int64_t i = 0; i < I64(node, NODE_N); i++)
			strided(t, off + offs[i], stride, packed + cum[i], size, rows, cum[i + 1] - cum[i]);
		return;
	}
	int64_t each = I64(sub_of(node), NODE_SIZE);
	for (int64_t i = 0; i < I64(node, NODE_N); i++)
		strided(t, off + (listed ? offs[i] : i * I64(node, NODE_STRIDE)), stride, packed + i * each, size, rows, each);
}

/* transfer.whole: all of a node */
static void whole(const struct transfer *t, const char *node, int64_t off, int64_t packed);

/* transfer.loop: count repetitions of a node */
static void loop(const struct transfer *t, const char *sub, int64_t stride, int64_t off, int64_t packed, int64_t count) {
	int64_t size = I64(sub, NODE_SIZE), at = off + I64(sub, NODE_OFF);
	if (kind(sub) == HALO_NODE_IS_RUN) {
		strided(t, at, stride, packed, size, count, size);
	} else if (columnar(sub, count)) {
		uint64_t wide = magnitude(stride) > (uint64_t)size ? magnitude(stride) : (uint64_t)size;
		int64_t rows = (int64_t)(HALO_TILE_BYTES / wide) > 8 ? (int64_t)(HALO_TILE_BYTES / wide) : 8;
		for (int64_t k; count > 0; at += k * stride, packed += k * size, count -= k) {
			k = count < rows ? count : rows;
			columns(t, sub, stride, at, packed, k);
		}
	} else {
		for (; count > 0; count--, off += stride, packed += size)
			whole(t, sub, off, packed);
	}
}

/* copyList: runs of one size */
#define LISTED(size)                                              \
	for (int64_t i = 0; i < n; i++, packed += size) {             \
		if (t->unpack)                                            \
			memcpy(t->mem + off + offs[i], t->packed + packed, size); \
		else                                                      \
			memcpy(t->packed + packed, t->mem + off + offs[i], size); \
	}                                                             \
	return;

/* transfer.list */
static void list(const struct transfer *t, const char *sub, const int64_t *offs, int64_t n, int64_t off, int64_t packed) {
	int64_t size = I64(sub, NODE_SIZE);
	if (kind(sub) == HALO_NODE_IS_RUN)
		switch (size) {
		case 4: LISTED(4)
		case 8: LISTED(8)
		case 16: LISTED(16)
		case 32: LISTED(32)
		case 64: LISTED(64)
		}
	for (int64_t i = 0; i < n; i++, packed += size)
		whole(t, sub, off + offs[i], packed);
}

static void whole(const struct transfer *t, const char *node, int64_t off, int64_t packed) {
	const int64_t *offs = LIST(node, NODE_OFFS), *cum = LIST(node, NODE_CUM);
	const char *sub = sub_of(node);
	off += I64(node, NODE_OFF);
	switch (kind(node)) {
	case HALO_NODE_IS_RUN:
		run(t, off, packed, I64(node, NODE_SIZE));
		return;
	case HALO_NODE_IS_LOOP:
		loop(t, sub, I64(node, NODE_STRIDE), off, packed, I64(node, NODE_N));
		return;
	case HALO_NODE_IS_LIST:
		list(t, sub, offs, I64(node, NODE_N), off, packed);
		return;
	case HALO_NODE_IS_PIECES:
		for (int64_t i = 0; i < I64(node, NODE_N); i++)
			run(t, off + offs[i], packed + cum[i], cum[i + 1] - cum[i]);
		return;
	case HALO_NODE_IS_SEQ:
		for (int64_t i = 0; i < I64(node, NODE_N); i++)
			whole(t, node + LIST(node, NODE_SUBS)[i], off, packed + cum[i]);
	}
}

/* Buffer.transferAll: returns the number of bytes, or 0 if the call goes to Go. */
static int64_t transfer_all(const struct transfer *t, int64_t count, MPI_Datatype datatype, int64_t room) {
	struct halo_type type = halo_type(datatype);
	if (count <= 0 || count > HALO_PACK_MOST || !HALO_THERE(t->mem) || !HALO_THERE(t->packed))
		return 0;
	room = room < HALO_PACK_MOST ? room : HALO_PACK_MOST;
	if (type.kind >= HALO_DENSE) {
		int64_t n = count * type.size;
		if (n > room)
			return 0;
		run(t, 0, 0, n);
		return n;
	}
	struct halo_entry *e = halo_find(&halo_datatypes, (uintptr_t)datatype);
	if (e == NULL)
		return 0;
	const char *known = e->descriptor;
	const char *node = __atomic_load_n(HALO_AT(const char *const, known, HALO_TYPE_PROGRAM), __ATOMIC_ACQUIRE); /* pairs with the store in dtype.ShareProgram */
	if (node == NULL)
		return 0;
	int64_t size = I64(known, TYPE_SIZE), extent = I64(known, TYPE_UB) - I64(known, TYPE_LB);
	if (size > HALO_PACK_MOST || count * size > room || count > I64(known, TYPE_MOST))
		return 0;
	if (t->unpack && count > 1 && magnitude(extent) < (uint64_t)I64(node, NODE_SPAN))
		return 0; /* elements may overlap */
	if (kind(node) == HALO_NODE_IS_RUN && extent == size)
		run(t, I64(node, NODE_OFF), 0, count * size);
	else if (count == 1)
		whole(t, node, 0, 0);
	else if (kind(node) == HALO_NODE_IS_LOOP && extent == I64(node, NODE_N) * I64(node, NODE_STRIDE))
		loop(t, sub_of(node), I64(node, NODE_STRIDE), I64(node, NODE_OFF), 0, count * I64(node, NODE_N));
	else
		loop(t, node, extent, 0, 0, count);
	return count * size;
}

int64_t halo_pack(const void *memory, int64_t count, MPI_Datatype datatype, void *packed, int64_t bytes, int64_t at, MPI_Comm comm) {
	const struct transfer t = {(char *)memory, (char *)packed + at, 0};
	return 0 <= at && at < bytes && HALO_THERE(packed) && halo_comm(comm) != NULL ? transfer_all(&t, count, datatype, bytes - at) : 0;
}

int64_t halo_unpack(const void *packed, int64_t bytes, int64_t at, void *memory, int64_t count, MPI_Datatype datatype, MPI_Comm comm) {
	const struct transfer t = {memory, (char *)packed + at, 1};
	return 0 <= at && at < bytes && HALO_THERE(packed) && halo_comm(comm) != NULL ? transfer_all(&t, count, datatype, bytes - at) : 0;
}
