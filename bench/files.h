/*
 * A part of halobench.c: accesses of a file in -dir, which is in the page cache, and the same by hand.
 *
 * file-at       a write and a read of size contiguous bytes
 * file-rows     a write of ROWS rows of size bytes with gaps in memory, contiguous in the file; by hand,
 *               packed into a buffer of PACKED bytes
 * file-gap      the access of mpich#6985: a collective write of size bytes of each rank, with a gap in
 *               memory, by a view of many subarrays with rows of 16 bytes
 * file-array    collective accesses of parts of an array of size x size x size doubles, in three and in
 *               four dimensions; alone, the same views by independent accesses and a barrier after each;
 *               by hand, an Alltoallv and one system call
 * file-blocks   collective accesses of BLOCKS blocks of size bytes of each rank, interleaved
 * file-strided  a read of STRIDED blocks of size bytes, each rank by itself
 * file-shared   a write of size bytes at the shared file pointer
 * file-overlap  a nonblocking collective write beside a computation that takes as long
 */
#include <fcntl.h>

#define CYCLE (1L << 20)
#define ROWS 10000
#define PACKED (1L << 18)
#define BLOCKS 1024
#define STRIDED 4096

static const char *directory;

static struct {
    MPI_File f;
    int hand;          /* descriptor of the same file */
    MPI_Offset first;  /* of this rank */
    long cycle;        /* blocks of file-at */
    int count;
    MPI_Datatype type; /* of the memory */
    long steps;        /* of the computation */
} file;

#define OK(call)                            \
    do {                                    \
        if ((call) != MPI_SUCCESS)          \
            fail("an access failed: ", #call); \
    } while (0)

static void file_open(const char *name)
{
    char path[1024];
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/halo-bench-%s-%d", directory ? directory : "/dev/shm", name, pid);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file.f));
    if ((file.hand = open(path, O_RDWR)) < 0)
        fail("cannot open ", path);
}

static void file_close(void)
{
    close(file.hand);
    MPI_File_close(&file.f);
}

/* Sets a view of bytes, and frees the type. */
static void file_view(MPI_Offset disp, MPI_Datatype type)
{
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file.f, disp, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
}

static char *file_memory(long bytes)
{
    char *p;
    if (posix_memalign((void **)&p, 4096, bytes))
        fail("out of memory", "");
    memset(p, 0, bytes);
    return p;
}

#define FILE_LOOP(name, call)           \
    static void name(long n)            \
    {                                   \
        for (long i = 0; i < n; i++)    \
            OK(call);                   \
    }

#define FILE_AT (file.first + i % file.cycle * size)
#define ALL_BYTES(n) ((n) == size ? MPI_SUCCESS : MPI_ERR_IO)
FILE_LOOP(file_write, MPI_File_write_at(file.f, FILE_AT, sendbuf, size, MPI_BYTE, MPI_STATUS_IGNORE))
FILE_LOOP(file_read, MPI_File_read_at(file.f, FILE_AT, sendbuf, size, MPI_BYTE, MPI_STATUS_IGNORE))
FILE_LOOP(file_pwrite, ALL_BYTES(pwrite(file.hand, sendbuf, size, FILE_AT)))
FILE_LOOP(file_pread, ALL_BYTES(pread(file.hand, sendbuf, size, FILE_AT)))
FILE_LOOP(file_write_typed, MPI_File_write_at(file.f, file.first, sendbuf, 1, file.type, MPI_STATUS_IGNORE))
FILE_LOOP(file_write_bytes, MPI_File_write_at(file.f, file.first, sendbuf, file.count, MPI_BYTE, MPI_STATUS_IGNORE))
FILE_LOOP(file_read_bytes, MPI_File_read_at(file.f, file.first, sendbuf, file.count, MPI_BYTE, MPI_STATUS_IGNORE))
FILE_LOOP(file_write_all_typed, MPI_File_write_at_all(file.f, file.first, sendbuf, 1, file.type, MPI_STATUS_IGNORE))
FILE_LOOP(file_write_all, MPI_File_write_at_all(file.f, file.first, sendbuf, file.count, MPI_BYTE, MPI_STATUS_IGNORE))
FILE_LOOP(file_read_all, MPI_File_read_at_all(file.f, file.first, sendbuf, file.count, MPI_BYTE, MPI_STATUS_IGNORE))
FILE_LOOP(file_write_shared, MPI_File_write_shared(file.f, sendbuf, size, MPI_BYTE, MPI_STATUS_IGNORE))

static int rows_by_hand(void)
{
    static char packed[PACKED];
    MPI_Offset at = file.first;
    for (long row = 0; row < ROWS;) {
        long k = 0;
        for (; k + size <= PACKED && row < ROWS; k += size, row++)
            memcpy(packed + k, sendbuf + 2 * row * size, size);
        if (pwrite(file.hand, packed, k, at) != k)
            return MPI_ERR_IO;
        at += k;
    }
    return MPI_SUCCESS;
}
FILE_LOOP(file_rows_by_hand, rows_by_hand())

static volatile unsigned long computed;

static void file_compute(long n)
{
    for (long i = 0; i < n; i++) {
        unsigned long v = file.steps;
        for (long k = 0; k < file.steps; k++) {
            v = v * 6364136223846793005UL + 1442695040888963407UL;
            __asm__ __volatile__("" : "+r"(v));
        }
        computed = v;
    }
}

static void file_both(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Request r;
        OK(MPI_File_iwrite_at_all(file.f, file.first, sendbuf, file.count, MPI_BYTE, &r));
        file_compute(1);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void file_alone(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Request r;
        OK(MPI_File_iwrite_at_all(file.f, file.first, sendbuf, file.count, MPI_BYTE, &r));
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static double file_report(const char *name, const char *what, void (*loop)(long))
{
    double us = measure(loop);
    if (rank == 0) {
        printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s%s%s\",\"us\":%.4f}\n", name, fabric, ranks, size,
               what, directory ? " in " : "", directory ? directory : "", us);
        fflush(stdout);
    }
    return us;
}

/* Prepares the view and the memory of file-gap. */
static MPI_Datatype file_gap(void)
{
    enum { BLOCK = 16, GAP_ROWS = 64, GAP = 16 };
    int parts = size / GAP_ROWS / BLOCK;
    int whole[2] = {GAP_ROWS, BLOCK * ranks}, sub[2] = {GAP_ROWS, BLOCK}, start[2] = {0, BLOCK * rank};
    int *lengths = malloc((parts + 1) * sizeof *lengths);
    MPI_Aint *displs = malloc((parts + 1) * sizeof *displs);
    MPI_Datatype *types = malloc((parts + 1) * sizeof *types), part, all, memory;
    MPI_Type_create_subarray(2, whole, sub, start, MPI_ORDER_C, MPI_BYTE, &part);
    for (int i = 0; i <= parts; i++) {
        lengths[i] = i == 0 ? GAP_ROWS : 1;
        displs[i] = i == 0 ? GAP_ROWS * rank : (MPI_Aint)GAP_ROWS * ranks * (1 + BLOCK * (MPI_Aint)(i - 1));
        types[i] = i == 0 ? MPI_BYTE : part;
    }
    MPI_Type_create_struct(parts + 1, lengths, displs, types, &all);
    file_view(0, all);
    int blocks[2] = {GAP_ROWS, size};
    MPI_Aint at[2] = {0, GAP_ROWS + GAP};
    MPI_Type_create_hindexed(2, blocks, at, MPI_BYTE, &memory);
    MPI_Type_commit(&memory);
    MPI_Type_free(&part);
    free(lengths);
    free(displs);
    free(types);
    file.count = GAP_ROWS + size;
    sendbuf = file_memory(GAP_ROWS + GAP + size);
    return memory;
}

#include "files_array.h"

static void filing(const char *name)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    file_open(name);
    file.first = 0;
    file.count = size;
    sendbuf = NULL;
    if (!strcmp(name, "file-at")) {
        file.cycle = size < CYCLE ? CYCLE / size : 1;
        file.first = rank * file.cycle * size;
        sendbuf = file_memory(size);
        for (long i = 0; i < file.cycle; i++)
            if (pwrite(file.hand, sendbuf, size, FILE_AT) != size)
                fail("cannot write the file", "");
        file_report(name, "write", file_write);
        file_report(name, "write by hand", file_pwrite);
        file_report(name, "read", file_read);
        file_report(name, "read by hand", file_pread);
    } else if (!strcmp(name, "file-rows")) {
        file.count = ROWS * size;
        file.first = (MPI_Offset)rank * file.count;
        sendbuf = file_memory(2L * ROWS * size);
        MPI_Type_vector(ROWS, size, 2 * size, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        file.type = type;
        file_report(name, "contiguous", file_write_bytes);
        file_report(name, "rows", file_write_typed);
        file_report(name, "rows by hand", file_rows_by_hand);
    } else if (!strcmp(name, "file-gap")) {
        file.type = type = file_gap();
        file_report(name, "contiguous", file_write_all);
        file_report(name, "gap", file_write_all_typed);
    } else if (!strcmp(name, "file-array")) {
        file_arrays(name);
    } else if (!strcmp(name, "file-blocks")) {
        file.count = BLOCKS * size;
        sendbuf = file_memory(file.count);
        MPI_Type_vector(BLOCKS, size, ranks * size, MPI_BYTE, &type);
        file_view(rank * size, type);
        type = MPI_DATATYPE_NULL;
        file_report(name, "write", file_write_all);
        file_report(name, "read", file_read_all);
    } else if (!strcmp(name, "file-strided")) {
        long all = 4L * STRIDED * size;
        sendbuf = file_memory(all);
        if (pwrite(file.hand, sendbuf, all, 0) != all)
            fail("cannot write the file", "");
        file.count = STRIDED * size;
        MPI_Type_vector(STRIDED, size, 4 * size, MPI_BYTE, &type);
        file_view(0, type);
        type = MPI_DATATYPE_NULL;
        file_report(name, "read", file_read_bytes);
    } else if (!strcmp(name, "file-shared")) {
        sendbuf = file_memory(size);
        file_report(name, "write", file_write_shared);
    } else {
        sendbuf = file_memory(size);
        file.first = rank * size;
        double us[2] = {file_report(name, "write", file_alone), 0};
        MPI_Bcast(us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        file.steps = 1 << 22;
        for (int i = 0; i < 5; i++) {
            double t = now();
            file_compute(1);
            if (t = now() - t, i == 0 || t < us[1])
                us[1] = t;
        }
        file.steps = file.steps * us[0] / us[1];
        file_report(name, "compute", file_compute);
        file_report(name, "both", file_both);
    }
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    free(sendbuf);
    file_close();
}
