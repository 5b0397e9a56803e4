/*
 * A part of halobench.c: pack and unpack, of count elements of type in memory, which
 * has DEPTH times as many bytes as the data. Types are committed before; nothing is
 * communicated.
 */
#include <stddef.h>

#define DEPTH 32 /* extent of the array across the face that is packed */
#define MAX_PACKED (16L << 20) /* bytes of data */

static char *memory;
static MPI_Datatype type;
static int count;

static void pack(long n)
{
    for (long i = 0; i < n; i++) {
        int at = 0;
        MPI_Pack(memory, count, type, sendbuf, size, &at, MPI_COMM_WORLD);
    }
}

static void unpack(long n)
{
    for (long i = 0; i < n; i++) {
        int at = 0;
        MPI_Unpack(sendbuf, size, &at, memory, count, type, MPI_COMM_WORLD);
    }
}

/* type: a part of an array, of size times size elements, is made, committed, queried and
 * freed. */
static void make_types(long n)
{
    int whole[2] = {100, 100}, part[2] = {size, size}, starts[2] = {5, 5};
    for (long i = 0; i < n; i++) {
        MPI_Datatype made;
        MPI_Type_create_subarray(2, whole, part, starts, MPI_ORDER_C, MPI_DOUBLE, &made);
        MPI_Type_commit(&made);
        MPI_Type_free(&made);
    }
}

static volatile MPI_Aint answer;

static void ask_size(long n)
{
    for (long i = 0; i < n; i++) {
        int bytes;
        MPI_Type_size(type, &bytes);
        answer = bytes;
    }
}

static void ask_extent(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Aint lb, extent;
        MPI_Type_get_extent(type, &lb, &extent);
        answer = extent;
    }
}

static void ask_true_extent(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Aint lb, extent;
        MPI_Type_get_true_extent(type, &lb, &extent);
        answer = extent;
    }
}

static void typing(const char *name)
{
    static const struct { const char *what; void (*loop)(long); } table[] = {
        {"made", make_types}, {"size", ask_size}, {"extent", ask_extent}, {"true extent", ask_true_extent},
    };
    int whole[2] = {100, 100}, part[2] = {size, size}, starts[2] = {5, 5};
    MPI_Type_create_subarray(2, whole, part, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int l = 0; l < 4; l++) {
        double us = measure(table[l].loop);
        if (rank == 0)
            printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s\",\"us\":%.4f}\n",
                   name, fabric, ranks, size, table[l].what, us);
        fflush(stdout);
    }
    MPI_Type_free(&type);
}

static void packing(const char *name, void (*loop)(long))
{
    struct particle { int id; double x[3]; float mass; };
    int n = size / 8, rows = n, columns = 1;
    while (rows % 2 == 0 && rows > columns) {
        rows /= 2;
        columns *= 2;
    }
    if (posix_memalign((void **)&memory, 4096, DEPTH * size) || posix_memalign((void **)&sendbuf, 4096, size))
        fail("out of memory", "");
    for (long i = 0; i < DEPTH * (long)n; i++)
        ((double *)memory)[i] = 1;
    static const char *layouts[] = {"contiguous", "vector 1/2", "vector 8/16", "face of rows", "face of words", "structs"};
    for (int l = 0; l < 6; l++) {
        int sizes[2][3] = {{rows, DEPTH, columns}, {rows, columns, DEPTH}};
        int parts[2][3] = {{rows, 1, columns}, {rows, columns, 1}};
        int starts[2][3] = {{0, DEPTH / 2, 0}, {0, 0, DEPTH / 2}};
        int lengths[] = {1, 3, 1};
        MPI_Aint displs[] = {offsetof(struct particle, id), offsetof(struct particle, x), offsetof(struct particle, mass)};
        MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_FLOAT};
        count = 1;
        switch (l) {
        case 0: MPI_Type_contiguous(n, MPI_DOUBLE, &type); break;
        case 1: MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &type); break;
        case 2: MPI_Type_vector(n / 8, 8, 16, MPI_DOUBLE, &type); break;
        case 3:
        case 4: MPI_Type_create_subarray(3, sizes[l - 3], parts[l - 3], starts[l - 3], MPI_ORDER_C, MPI_DOUBLE, &type); break;
        case 5: MPI_Type_create_struct(3, lengths, displs, types, &type); count = n / 4; break;
        }
        MPI_Type_commit(&type);
        if (loop == unpack)
            pack(1);
        double us = measure(loop);
        if (rank == 0)
            printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s\",\"us\":%.4f}\n",
                   name, fabric, ranks, size, layouts[l], us);
        fflush(stdout);
        MPI_Type_free(&type);
    }
    free(memory);
    free(sendbuf);
}
