/*
 * A part of halobench.c: proxy applications, small programs that compute and communicate as applications do. -op
 * selects one. A problem has the same size on any number of ranks. Printed is the wall time of a run at rank 0, from
 * a barrier to the verified result: the median of PROXY_RUNS runs after one that warms up. If that takes SLOW_PROXY_US,
 * its time is the result.
 *
 * cg         conjugate gradients on a grid of two dimensions: borders to four neighbours, two dot products a step
 * md         particles in cells that move from rank to rank: a count, then as many particles; copies of the
 *            particles at the borders, whose number the receiver learns by Probe
 * fft        a Fourier transform of three dimensions and its inverse: lines, a transposition by Alltoall, lines
 * wavefront  an alignment of two texts: each row of scores waits for 8 bytes of the rank before
 * tasks      a queue of uneven tasks: the next one is a Fetch_and_op on rank 0
 * walk       walks on a graph: a Get of the neighbours of a vertex from its owner, at random
 *
 * Results are compared with one that does not depend on the number of ranks. The Go program computes with the same
 * loops. Compilers differ, too: runs on one rank show by how much.
 */
#include <stdint.h>

#define PROXY_RUNS 3        /* measured runs; odd, for the median */
#define SLOW_PROXY_US 200e3 /* us of a run after which one is enough */

/* mixed returns a number that depends on all bits of x. */
static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* first_of returns where part i of n begins, of parts that differ by one at most. */
static long first_of(long all, int i, int n) { return all * i / n; }

/* expect_total stops the program unless the sum over all ranks is that. */
static void expect_total(const char *what, uint64_t part, uint64_t want)
{
    uint64_t sum;
    MPI_Allreduce(&part, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sum == want)
        return;
    if (rank == 0)
        fprintf(stderr, "halobench: %s: the result is %llu, not %llu\n", what, (unsigned long long)sum, (unsigned long long)want);
    fail("wrong result of ", what);
}

#include "proxy_cg.h"
#include "proxy_md.h"
#include "proxy_fft.h"
#include "proxy_onesided.h"
#include "proxy_wavefront.h"

static const struct proxy {
    const char *name;
    void (*open)(void);
    void (*run)(void);
    void (*close)(void);
} proxies[] = {
    {"cg", open_cg, run_cg, close_cg},
    {"md", open_md, run_md, close_md},
    {"fft", open_fft, run_fft, close_fft},
    {"wavefront", open_wavefront, run_wavefront, close_wavefront},
    {"tasks", open_tasks, run_tasks, close_tasks},
    {"walk", open_walk, run_walk, close_walk},
};

static double proxy_us(const struct proxy *p)
{
    double t[PROXY_RUNS + 1];
    int enough = 0, n = 0;
    while (n <= PROXY_RUNS && !enough) {
        MPI_Barrier(MPI_COMM_WORLD);
        t[n] = now();
        p->run();
        t[n] = now() - t[n];
        enough = t[n++] >= SLOW_PROXY_US;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return n == 1 ? t[0] : median(t + 1, n - 1);
}

static void proxy_of(const char *name)
{
    int known = 0;
    for (unsigned i = 0; i < sizeof proxies / sizeof *proxies; i++) {
        if (worker_op && strcmp(worker_op, proxies[i].name))
            continue;
        known = 1;
        proxies[i].open();
        double us = proxy_us(&proxies[i]);
        proxies[i].close();
        if (rank == 0)
            printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"op\":\"%s\",\"us\":%.4f}\n", name, fabric, ranks, proxies[i].name, us);
        fflush(stdout);
    }
    if (!known)
        fail("proxy knows no application ", worker_op);
}
