/*
 * halobench NAME [-fabric LABEL] [-sizes N,N,...] [-win KIND,KIND,...] [-types NAME,NAME,...]
 *     [-workers N,N,...] [-op NAME] [-partitions N] [-ops N] [-busy-ms N] [-uneven KIND]
 *
 * The loops of `halo bench` (cmd/halo/internal/benchmark) in C, to be built with the mpicc
 * of any MPI. Both follow one method, so that their figures can be compared:
 *
 *  - A loop is warmed up and calibrated at once: it runs with growing
 *    iteration counts until a run takes WARM_US, and does so once more (the
 *    first message of a pair may take that long alone); the count is then
 *    scaled to REP_US. Time decides, not a table, because a barrier takes
 *    0.3 us with one MPI and 40 ms with another.
 *  - It runs REPS times, each after a barrier; rank 0's clock counts, and the
 *    median is printed, as one JSON object a line. A run that takes SLOW_US is
 *    the last.
 *
 * latency    half a round trip of blocking Send and Recv
 * bw         WINDOW nonblocking messages one way, then an acknowledgement
 * bibw       the same both ways at once; the sum is printed
 * msgrate    bw with small messages; with more than two ranks rank i sends to
 *            i + n/2, and the sum is printed
 * beside     see beside.h; the size is that of the long message
 * matching   see matching.h; -sizes gives the depths
 * barrier, bcast, allreduce (sum of doubles), allgather, alltoall; the size is
 *            that of the buffer, or of one block
 * window     Win_allocate of the size at each rank, and Win_free
 * dup        Comm_dup of MPI_COMM_WORLD, and Comm_free
 * neighbor   see neighbor.h; the size is that of one block
 * reduce_local  Reduce_local of doubles by a sum, at every rank by itself
 * partitioned  see partitioned.h; the size is that of a partition
 * file-at and so on  see files.h
 * pack, unpack  Pack and Unpack of six layouts with the size as data
 * section    see fortran.h; the size is that of a side
 * phases     see phases.h; the sizes are us of computation
 * guideline  see guideline.h; waitsome  see waitsome.h; the sizes are numbers of requests
 * proxy      see proxy.h
 * put, get, acc, getacc, fop, cas, fence, pscw, lock, mtflush, passive  see onesided.h
 * spawn, connect, across  see dynamic.h; memory  see memory.h
 * init       only Init and Finalize: the program that starts the job takes the time
 *
 * With -DFORTRAN the loops of latency, allreduce and put are those of fortran.f90.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_US 5e3      /* us that a calibrating run must take before its count is used */
#define REP_US 20e3      /* intended us of one measured run */
#define SLOW_US 40e3     /* us of a measured run after which one is enough */
#define MIN_ITERS 4      /* iterations of a measured run, however slow */
#define MAX_ITERS 10000000
#define REPS 5           /* measured runs; odd, for the median */
#define WINDOW 64        /* messages in flight in bw, bibw and msgrate */
#define MATCH_US 50e3    /* us after which the rest of a deep queue is emptied from its best end, untimed */
#define MATCHES 5000     /* matches one measured run of matching shall make at least */
#define CHUNK 64         /* posted receives matched between two readings of the clock */
#define MAX_SIZES 64

#define ACK 2            /* tag of acknowledgements */

static int rank, ranks;
static const char *fabric = "shm";
static long size;        /* of the messages of the running loop, bytes */
static char *sendbuf, *recvbuf;

static double now(void) { return MPI_Wtime() * 1e6; }

static void fail(const char *what, const char *which)
{
    if (rank == 0)
        fprintf(stderr, "halobench: %s%s\n", what, which);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

#include "measure.h"
#include "packing.h"
#include "fortran.h"

static void latency(long n)
{
    IN_FORTRAN(fortran_latency(n, rank, size, sendbuf, recvbuf));
    for (long i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(sendbuf, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(recvbuf, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(recvbuf, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(sendbuf, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* stream is bw and msgrate: the lower half of the ranks sends to the upper. */
static void stream(long n)
{
    MPI_Request req[WINDOW];
    char ack = 0;
    int half = ranks / 2, sender = rank < half;
    int peer = sender ? rank + half : rank - half;
    for (long i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++) {
            if (sender)
                MPI_Isend(sendbuf, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &req[w]);
            else
                MPI_Irecv(recvbuf, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &req[w]);
        }
        MPI_Waitall(WINDOW, req, MPI_STATUSES_IGNORE);
        if (sender)
            MPI_Recv(&ack, 1, MPI_BYTE, peer, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&ack, 1, MPI_BYTE, peer, ACK, MPI_COMM_WORLD);
    }
}

static void both_ways(long n)
{
    MPI_Request req[2 * WINDOW];
    int peer = 1 - rank;
    for (long i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++)
            MPI_Irecv(recvbuf, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &req[w]);
        for (int w = 0; w < WINDOW; w++)
            MPI_Isend(sendbuf, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &req[WINDOW + w]);
        MPI_Waitall(2 * WINDOW, req, MPI_STATUSES_IGNORE);
    }
}

static void barrier(long n)
{
    for (long i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(long n)
{
    IN_FORTRAN(fortran_allreduce(n, size / sizeof(double), sendbuf, recvbuf));
    for (long i = 0; i < n; i++)
        MPI_Allreduce(sendbuf, recvbuf, size / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_local(long n)
{
    for (long i = 0; i < n; i++)
        MPI_Reduce_local(sendbuf, recvbuf, size / sizeof(double), MPI_DOUBLE, MPI_SUM);
}

static void bcast(long n)
{
    for (long i = 0; i < n; i++)
        MPI_Bcast(sendbuf, size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(long n)
{
    for (long i = 0; i < n; i++)
        MPI_Allgather(sendbuf, size, MPI_BYTE, recvbuf, size, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(long n)
{
    for (long i = 0; i < n; i++)
        MPI_Alltoall(sendbuf, size, MPI_BYTE, recvbuf, size, MPI_BYTE, MPI_COMM_WORLD);
}

static void windows(long n)
{
    for (long i = 0; i < n; i++) {
        void *memory;
        MPI_Win w;
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
        MPI_Win_free(&w);
    }
}

static void duplicates(long n)
{
    for (long i = 0; i < n; i++) {
        MPI_Comm c;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_free(&c);
    }
}

#include "beside.h"
#include "matching.h"
#include "neighbor.h"

static int parse_sizes(const char *list, long *sizes)
{
    int n = 0;
    for (const char *p = list;; p++) {
        char *end;
        long v = strtol(p, &end, 10);
        if (end == p || v < 0 || v > 1L << 30 || n == MAX_SIZES || (*end && *end != ','))
            fail("-sizes wants up to 64 numbers from 0 to 1073741824 with commas between them, not ", list);
        sizes[n++] = v;
        if (!*end)
            return n;
        p = end;
    }
}

#include "onesided.h"
#include "partitioned.h"
#include "files.h"
#include "dynamic.h"
#include "memory.h"
#include "phases.h"
#include "guideline.h"
#include "waitsome.h"
#include "proxy.h"

int main(int argc, char **argv)
{
    long sizes[MAX_SIZES];
    int count = 0;
    const char *name = argc > 1 ? argv[1] : "";

    /* Only benchmarks that use threads initialise MPI for them. */
    if (!strcmp(name, "mtflush") || !strcmp(name, "partitioned")) {
        int level;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
        if (level != MPI_THREAD_MULTIPLE)
            fail("no threads with this MPI", "");
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    if (serves_parent(argv[0]))
        return 0;
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 < argc && !strcmp(argv[i], "-fabric"))
            fabric = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "-sizes"))
            count = parse_sizes(argv[i + 1], sizes);
        else if (i + 1 < argc && !strcmp(argv[i], "-win"))
            wins = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "-types"))
            types = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "-workers"))
            workers = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "-op"))
            worker_op = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "-partitions") && atol(argv[i + 1]) > 0 && atol(argv[i + 1]) <= MAX_PARTS)
            parts = atol(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "-ops") && atol(argv[i + 1]) > 0)
            ops = atol(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "-busy-ms") && atol(argv[i + 1]) > 0)
            busy_ms = atol(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "-dir"))
            directory = argv[i + 1];
        else if (i + 1 < argc && !strcmp(argv[i], "-uneven") && (!strcmp(argv[i + 1], "varied") || !strcmp(argv[i + 1], "skewed")))
            uneven = argv[i + 1];
        else
            fail("no such option, or a bad value of it: ", argv[i]);
    }

    static const struct {
        const char *name, *sizes;
        void (*loop)(long);
        int ranks; /* 1, 2: exactly so many; -2: an even number; 0: any */
    } table[] = {
        {"latency", "0,8,64,512,4096,16384,65536,262144,1048576", latency, 2},
        {"bw", "64,512,4096,16384,65536,262144,1048576,4194304", stream, 2},
        {"bibw", "64,512,4096,16384,65536,262144,1048576,4194304", both_ways, 2},
        {"beside", "1073741824", NULL, 2},
        {"msgrate", "8", stream, -2},
        {"matching", "10,100,1000,10000,50000,100000", NULL, 2},
        {"barrier", "0", barrier, 0},
        {"bcast", "8,64,512,4096,16384,65536,262144,1048576,4194304", bcast, 0},
        {"allreduce", "8,64,512,4096,16384,65536,262144,1048576,4194304", allreduce, 0},
        {"allgather", "8,64,512,4096,16384,65536,262144,1048576,4194304", allgather, 0},
        {"alltoall", "8,64,512,4096,16384,65536,262144,1048576,4194304", alltoall, 0},
        {"window", "8", windows, 0},
        {"dup", "0", duplicates, 0},
        {"neighbor", "8,1024,65536", neighbor, 0},
        {"reduce_local", "8,64,1024,16384,262144,4194304,67108864", reduce_local, 0},
        {"partitioned", "4096", NULL, 2},
        {"pack", "1024,65536,4194304", pack, 0},
        {"unpack", "1024,65536,4194304", unpack, 0},
        {"type", "10", make_types, 0},
        {"put", "1,8,64,512,4096,65536,262144,1048576,4194304", put_flush, 2},
        {"get", "1,8,64,512,4096,65536,262144,1048576,4194304", get_flush, 2},
        {"acc", "8,64,512,4096,32768,65536,262144", accumulate, 2},
        {"getacc", "8,64,512,4096,32768,65536,262144", get_accumulate, 2},
        {"fop", "8", fetch_and_op, 2},
        {"cas", "8", compare_and_swap, 2},
        {"fence", "8", fence_epochs, 2},
        {"pscw", "8", pscw_epochs, 2},
        {"lock", "8", lock_epochs, 2},
        {"lockget", "8", lock_get_epochs, 2},
        {"rput", "8", rput_wait, 2},
        {"mtflush", "1", put_in_threads, 2},
        {"passive", "1", NULL, 2},
#ifdef FORTRAN
        {"section", "1000", NULL, 2},
#endif
        {"file-at", "1024,65536,1048576,67108864", NULL, 0},
        {"file-rows", "64,256,1024", NULL, 0},
        {"file-gap", "1048576", NULL, 0},
        {"file-array", "128", NULL, 0},
        {"file-blocks", "1024,4096", NULL, 0},
        {"file-strided", "64,512", NULL, 0},
        {"file-shared", "100", NULL, 0},
        {"file-overlap", "67108864", NULL, 0},
        {"spawn", "1,4", spawns, 1},
        {"connect", "0", connections, 2},
        {"across", "0,8,64,512,4096,16384,65536,262144,1048576", echoes, 1},
        {"phases", "5,20,60,500", NULL, 0},
        {"guideline", "8,4096,1048576", NULL, 0},
        {"waitsome", "600,6000,60000", NULL, -2},
        {"proxy", "0", NULL, 0},
        {"memory", "8", NULL, 0},
        {"init", "0", NULL, 0},
    };
    static const struct {
        const char *name;
        void (*of)(const char *);
    } named[] = {{"beside", beside}, {"phases", phases_of}, {"guideline", guideline_of}, {"waitsome", completions}, {"proxy", proxy_of},
                 {"memory", memory_taken}}; /* print their results themselves */
    unsigned b = 0;
    while (b < sizeof table / sizeof *table && strcmp(name, table[b].name))
        b++;
    if (b == sizeof table / sizeof *table)
        fail("the table at the end of halobench.c has no benchmark ", name);
    if (table[b].ranks == 1 && ranks != 1)
        fail(name, " takes exactly one rank");
    if ((table[b].ranks == 2 && ranks != 2) || (table[b].ranks == -2 && ranks % 2))
        fail(name, table[b].ranks == 2 ? " takes exactly two ranks" : " takes an even number of ranks");
    if (!strcmp(name, "init")) {
        MPI_Finalize();
        return 0;
    }
    if (count == 0)
        count = parse_sizes(table[b].sizes, sizes);
    if (!strcmp(name, "barrier") || !strcmp(name, "dup") || !strcmp(name, "connect"))
        count = 1;

    if (is_onesided(name)) {
        onesided(name, table[b].loop, sizes, count);
#ifdef MPICH_VERSION
        if (!strcmp(fabric, "tcp")) {
            /* MPICH's Finalize sometimes hangs after this; all results are printed. */
            MPI_Barrier(MPI_COMM_WORLD);
            _exit(0);
        }
#endif
        MPI_Finalize();
        return 0;
    }
    for (int s = 0; s < count; s++) {
        size = sizes[s];
        if (!strcmp(name, "matching")) {
            if (size < 1 || size > 1000000)
                fail("matching takes depths from 1 to 1000000", "");
            matching(size, "unexpected", unexpected);
            matching(size, "posted", posted);
            continue;
        }
        unsigned own = 0;
        while (own < sizeof named / sizeof *named && strcmp(name, named[own].name))
            own++;
        if (own < sizeof named / sizeof *named) {
            named[own].of(name);
            continue;
        }
        if (!strcmp(name, "partitioned")) {
            if (size < 1)
                fail("partitioned takes sizes from 1", "");
            partitioning(workers ? workers : "1,2,8");
            continue;
        }
        if (!strncmp(name, "file-", 5)) {
            int unit = !strcmp(name, "file-gap") ? 1024 : !strcmp(name, "file-array") ? 8 : 1;
            if (size < unit || size % unit)
                fail(name, " takes no such size");
            filing(name);
            continue;
        }
        if (table[b].loop == pack || table[b].loop == unpack) {
            if (size < 64 || size % 64 || size > MAX_PACKED)
                fail(name, " takes sizes that are multiples of 64 from 64 to 16777216");
            packing(name, table[b].loop);
            continue;
        }
        if (table[b].loop == neighbor) {
            neighboring(name);
            continue;
        }
#ifdef FORTRAN
        if (!strcmp(name, "section")) {
            sections(name);
            continue;
        }
#endif
        if (table[b].loop == spawns || table[b].loop == connections || table[b].loop == echoes) {
            if ((table[b].loop == spawns && (size < 1 || size > MAX_SPAWNED)) || size > MAX_ECHO)
                fail(name, " takes no such size");
            dynamic(name, table[b].loop);
            continue;
        }
        if (table[b].loop == make_types) {
            if (size < 1 || size > 90)
                fail(name, " takes sizes from 1 to 90");
            typing(name);
            continue;
        }
        if ((!strcmp(name, "allreduce") || !strcmp(name, "reduce_local")) && (size < 8 || size % 8))
            fail(name, " takes sizes that are multiples of 8 from 8");
        long out = size, in = size; /* bytes of the buffers */
        if (table[b].loop == allgather || table[b].loop == alltoall)
            in *= ranks;
        if (table[b].loop == alltoall)
            out *= ranks;
        if (posix_memalign((void **)&sendbuf, 4096, out + 1) || posix_memalign((void **)&recvbuf, 4096, in + 1))
            fail("out of memory", "");
        memset(sendbuf, 0, out + 1);
        memset(recvbuf, 0, in + 1);
        double us = measure(table[b].loop), way = (double)WINDOW * size / us; /* bytes per us are MB/s */
        if (rank == 0) {
            printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d", name, fabric, ranks);
            if (table[b].loop != barrier && table[b].loop != duplicates)
                printf(",\"size\":%ld", size);
            if (table[b].loop == latency)
                printf(",\"us\":%.4f}\n", us / 2);
            else if (table[b].loop == both_ways)
                printf(",\"mbps\":%.1f}\n", 2 * way);
            else if (!strcmp(name, "bw"))
                printf(",\"mbps\":%.1f}\n", way);
            else if (!strcmp(name, "msgrate"))
                printf(",\"mrate\":%.0f}\n", ranks / 2 * WINDOW / us * 1e6);
            else
                printf(",\"us\":%.4f}\n", us);
            fflush(stdout);
        }
        free(sendbuf);
        free(recvbuf);
    }
    MPI_Finalize();
    return 0;
}
