/*
 * A part of halobench.c: with -DFORTRAN, the loops that fortran.f90 has instead of those in C, and
 *
 * section    half a round trip of a section of an array of doubles, of size times size elements, every
 *            second one in both dimensions: "direct", and "datatype", by a datatype of the same places
 */
#ifdef FORTRAN
#define IN_FORTRAN(call) do { call; return; } while (0)

void fortran_latency(long n, int rank, long size, const char *sendbuf, char *recvbuf);
void fortran_allreduce(long n, int count, const char *sendbuf, char *recvbuf);
void fortran_put(long n, int size, const char *sendbuf, MPI_Aint base, int win);
void fortran_section_begin(long side);
void fortran_section(long n, int rank, int typed);
void fortran_section_end(void);

static void direct(long n) { fortran_section(n, rank, 0); }
static void typed(long n) { fortran_section(n, rank, 1); }

static void sections(const char *name)
{
    if (size < 1 || size > 4000)
        fail(name, " takes sizes from 1 to 4000");
    fortran_section_begin(size);
    typed(50); /* what is measured first would take a third longer while caches and pages are cold */
    for (int by_type = 0; by_type < 2; by_type++) {
        double us = measure(by_type ? typed : direct);
        if (rank == 0)
            printf("{\"bench\":\"%s\",\"fabric\":\"%s\",\"ranks\":%d,\"size\":%ld,\"layout\":\"%s\",\"us\":%.4f}\n",
                   name, fabric, ranks, size, by_type ? "datatype" : "direct", us / 2);
        fflush(stdout);
    }
    fortran_section_end();
}
#else
#define IN_FORTRAN(call)
#endif
