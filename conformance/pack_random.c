/*
 * pack_random: MPI_Pack and MPI_Unpack of vectors of all shapes, and of random types, nested up
 * to four deep, of a few bytes and of many, at positions of all kinds, move the bytes of the
 * typemap, in its order, and no others (MPI-5, 5.1 and 5.2). The program keeps the typemap as a list
 * of blocks.
 *
 * pack_random [seed [types]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 20000
#define MOST_BYTES (160L << 10) /* bytes of packed data */
#define REACH (2L << 20)        /* bytes of memory before and behind displacement 0 */

static unsigned long seed = 1, state;
static int failed;

static unsigned long next(void)
{
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state >> 8;
}

static long below(long n) { return (long)(next() % (unsigned long)n); }

/* A type, and the blocks of its typemap. */
struct block { long off, size; };
struct made { MPI_Datatype type; struct block *blocks; long n, bytes; MPI_Aint lb, extent; };

static void add(struct made *t, const struct made *old, long at)
{
    for (long i = 0; i < old->n; i++) {
        t->blocks[t->n].off = at + old->blocks[i].off;
        t->blocks[t->n++].size = old->blocks[i].size;
        t->bytes += old->blocks[i].size;
    }
}

static struct made begin(long blocks)
{
    struct made t = {MPI_DATATYPE_NULL, malloc((size_t)(blocks + 1) * sizeof *t.blocks), 0, 0, 0, 0};
    return t;
}

static struct made basic(int k)
{
    const MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    const long sizes[] = {1, 2, 4, 8};
    struct made t = begin(1);
    t.blocks[0].off = 0;
    t.blocks[0].size = t.bytes = sizes[k];
    t.n = 1;
    MPI_Type_contiguous(1, types[k], &t.type);
    MPI_Type_get_extent(t.type, &t.lb, &t.extent);
    return t;
}

/* Sets the extent of t, and frees the old type from which t was made. */
static void replace(struct made *t, struct made *old)
{
    MPI_Type_get_extent(t->type, &t->lb, &t->extent);
    MPI_Type_free(&old->type);
    free(old->blocks);
}

static struct made vector(struct made old, long n, long each, long stride)
{
    struct made t = begin(n * each * old.n);
    MPI_Type_vector((int)n, (int)each, (int)stride, old.type, &t.type);
    for (long k = 0; k < n; k++)
        for (long i = 0; i < each; i++)
            add(&t, &old, (k * stride + i) * old.extent);
    replace(&t, &old);
    return t;
}

/* A random count such that so many elements have few enough blocks and bytes: most counts are small,
 * some as large as allowed. */
static long times(const struct made *old)
{
    long most = MOST_BLOCKS / old->n, bytes = MOST_BYTES / old->bytes;
    most = bytes < most ? bytes : most;
    if (most < 1)
        return 1;
    return 1 + below(below(3) == 0 ? most : most < 12 ? most : 12);
}

/* Makes a type of another one, which it frees. */
static struct made grow(struct made old)
{
    long n = times(&old), each = 1 + below(3), k;
    struct made t = begin(2 * (n + 3) * (each + 1) * old.n);
    int lengths[64], displs[64];
    MPI_Aint places[64];
    MPI_Datatype types[64];
    switch (below(8)) {
    case 0:
        MPI_Type_contiguous((int)n, old.type, &t.type);
        for (k = 0; k < n; k++)
            add(&t, &old, k * old.extent);
        break;
    case 1:
        free(t.blocks);
        return vector(old, n, each, each + below(4) - (below(5) == 0 ? 3 : 0));
    case 2: {
        long stride = below(4) == 0 ? 1024 * (1 + below(3)) : old.extent * each + below(100);
        MPI_Type_create_hvector((int)n, (int)each, stride, old.type, &t.type);
        for (k = 0; k < n; k++)
            for (long i = 0; i < each; i++)
                add(&t, &old, k * stride + i * old.extent);
        break;
    }
    case 3:
        n = n < 64 ? n : 64;
        for (k = 0; k < n; k++) {
            lengths[k] = (int)below(4);
            displs[k] = (int)((k ? displs[k - 1] : 0) + (below(6) == 0 ? -3 : 4) + below(4));
        }
        MPI_Type_indexed((int)n, lengths, displs, old.type, &t.type);
        for (k = 0; k < n; k++)
            for (long i = 0; i < lengths[k]; i++)
                add(&t, &old, (displs[k] + i) * old.extent);
        break;
    case 4:
        n = n < 64 ? n : 64;
        for (k = 0; k < n; k++)
            displs[k] = (int)((k ? displs[k - 1] : 0) + each + below(3));
        MPI_Type_create_indexed_block((int)n, (int)each, displs, old.type, &t.type);
        for (k = 0; k < n; k++)
            for (long i = 0; i < each; i++)
                add(&t, &old, (displs[k] + i) * old.extent);
        break;
    case 5: { /* a struct of old and another type */
        struct made other = basic((int)below(4));
        long at = below(16);
        n = 2 + below(4);
        for (k = 0; k < n; k++) {
            const struct made *part = k == n / 2 ? &old : &other;
            lengths[k] = 1 + (int)below(2);
            types[k] = part->type;
            places[k] = at - part->lb;
            for (long i = 0; i < lengths[k]; i++)
                add(&t, part, places[k] + i * part->extent);
            at += lengths[k] * labs(part->extent) + below(10);
        }
        MPI_Type_create_struct((int)n, lengths, places, types, &t.type);
        MPI_Type_free(&other.type);
        free(other.blocks);
        break;
    }
    case 6: {
        long room = below(3) == 0 ? 0 : 8 * below(64);
        MPI_Type_create_resized(old.type, old.lb - below(9), old.extent + room, &t.type);
        add(&t, &old, 0);
        break;
    }
    default: {
        int sizes[2], parts[2], starts[2];
        sizes[0] = 1 + (int)below(n < 200 ? n : 200);
        sizes[1] = 1 + (int)below(n / sizes[0] + 1);
        for (k = 0; k < 2; k++) {
            parts[k] = 1 + (int)below(sizes[k]);
            starts[k] = (int)below(sizes[k] - parts[k] + 1);
        }
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, old.type, &t.type);
        for (k = 0; k < parts[0]; k++)
            for (long i = 0; i < parts[1]; i++)
                add(&t, &old, ((starts[0] + k) * sizes[1] + starts[1] + i) * old.extent);
    }
    }
    replace(&t, &old);
    return t;
}

static unsigned char *memory, *expected, *packed, *seen;
static unsigned char *before, *behind; /* what memory has before MPI_Unpack, and what is unpacked */
static long low, high; /* bounds of the bytes of memory in use */

static void check(int ok, const char *what, long type, long count, long at)
{
    if (!ok && failed++ < 10)
        fprintf(stderr, "seed %lu, type %ld: %s, %ld elements, at %ld\n", seed, type, what, count, at);
}

/* Whether count elements are within memory. Sets low and high to their bounds. */
static int fits(const struct made *t, long count)
{
    low = high = 0;
    for (long e = 0; e < count; e += count > 1 ? count - 1 : 1)
        for (long i = 0; i < t->n; i++) {
            long at = e * t->extent + t->blocks[i].off;
            low = at < low ? at : low;
            high = at + t->blocks[i].size > high ? at + t->blocks[i].size : high;
        }
    return -REACH < low && high < REACH;
}

/* Packs and unpacks count elements, if they are within memory. */
static void try(const struct made *t, long number, long count)
{
    long bytes = count * t->bytes, at = below(3) == 0 ? below(70) : 0, room = bytes + at + (below(2) ? below(100) : 0), p = at;
    int position = (int)at, twice = 0;
    if (count * t->bytes > MOST_BYTES || !fits(t, count))
        return;
    memset(memory + REACH + low - 1, 0xa5, (size_t)(high - low + 2));
    memcpy(memory + REACH + low, before + REACH + low + (number & 255), (size_t)(high - low));
    memset(seen + REACH + low, 0, (size_t)(high - low));
    memset(packed, 0x5a, (size_t)room + 64);
    MPI_Pack(memory + REACH, (int)count, t->type, packed, (int)room, &position, MPI_COMM_WORLD);
    check(position == at + bytes, "position behind MPI_Pack", number, count, position);
    for (long e = 0; e < count; e++)
        for (long i = 0; i < t->n; i++) {
            long off = e * t->extent + t->blocks[i].off, size = t->blocks[i].size;
            check(memcmp(packed + p, memory + REACH + off, (size_t)size) == 0, "bytes of MPI_Pack", number, count, p);
            p += size;
            for (long k = 0; k < size; k++)
                twice |= seen[REACH + off + k]++;
        }
    for (long i = 0; i < at; i++)
        check(packed[i] == 0x5a, "a byte before those packed", number, count, i);
    for (long i = at + bytes; i < room + 64; i++)
        check(packed[i] == 0x5a, "a byte behind those packed", number, count, i);
    if (twice) /* overlapping elements cannot be unpacked */
        return;

    memcpy(packed + at, behind, (size_t)bytes);
    memcpy(expected + REACH + low, memory + REACH + low, (size_t)(high - low));
    p = at;
    for (long e = 0; e < count; e++)
        for (long i = 0; i < t->n; i++) {
            memcpy(expected + REACH + e * t->extent + t->blocks[i].off, packed + p, (size_t)t->blocks[i].size);
            p += t->blocks[i].size;
        }
    position = (int)at;
    MPI_Unpack(packed, (int)room, &position, memory + REACH, (int)count, t->type, MPI_COMM_SELF);
    check(position == at + bytes, "position behind MPI_Unpack", number, count, position);
    check(memcmp(expected + REACH + low, memory + REACH + low, (size_t)(high - low)) == 0, "memory behind MPI_Unpack", number, count, at);
    check(memory[REACH + low - 1] == 0xa5 && memory[REACH + high] == 0xa5, "bytes beside those unpacked", number, count, at);
}

/* Tries a type with several counts, and frees it. */
static void try_all(struct made t, long number)
{
    if (t.n > 0 && t.bytes <= MOST_BYTES) {
        MPI_Type_commit(&t.type);
        try(&t, number, 1);
        for (int turn = 0; turn < 3; turn++)
            try(&t, number, times(&t));
    }
    MPI_Type_free(&t.type);
    free(t.blocks);
}

int main(int argc, char **argv)
{
    long types = argc > 2 ? atol(argv[2]) : 300;
    seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    state = seed * 2654435761u + 88172645463325252u;
    MPI_Init(NULL, NULL);
    memory = malloc(2 * REACH + 2);
    expected = malloc(2 * REACH + 2);
    seen = malloc(2 * REACH + 2);
    packed = malloc(2 * MOST_BYTES + 300);
    before = malloc(2 * REACH + 256);
    behind = malloc(MOST_BYTES);
    for (long i = 0; i < 2 * REACH + 256; i++)
        before[i] = (unsigned char)(i * 7 + i / 256);
    for (long i = 0; i < MOST_BYTES; i++)
        behind[i] = (unsigned char)(i * 11 + i / 256 + 3);
    const long counts[] = {1, 9, 24, 50, 700, 5000}, lengths[] = {1, 2, 3, 5, 7, 8, 11, 16, 33, 70, 250, 1100, 3500};
    const long gaps[] = {1, 8, 1000};
    for (int k = 0; k < 4; k++)
        for (int n = 0; n < 6; n++)
            for (int l = 0; l < 13; l++)
                for (int g = 0; g < 5; g++) {
                    long stride = g < 3 ? lengths[l] + gaps[g] : g == 3 ? 2 * lengths[l] : (lengths[l] / 1024 + 1) * 1024;
                    if (counts[n] * (lengths[l] << k) <= MOST_BYTES / 2 && counts[n] * (stride << k) < REACH)
                        try_all(vector(basic(k), counts[n], lengths[l], stride), -1 - k);
                }
    for (long number = 0; number < types; number++) {
        struct made t = basic((int)below(4));
        for (long depth = below(5); depth > 0 && t.n > 0; depth--)
            t = grow(t);
        try_all(t, number);
    }
    if (failed == 0)
        printf("no errors\n");
    MPI_Finalize();
    return failed != 0;
}
