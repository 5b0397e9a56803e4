/*
 * A part of proxy.h: conjugate gradients. The matrix is that of five points of a grid with CG_DIAGONAL in place of 4,
 * beyond the border all is 0, and the right side is such that the solution is 1 everywhere. The invariant is that no
 * element of the solution is off by more than CG_OFF.
 */

#define CG_SIDE 192      /* of the grid */
#define CG_STEPS 600
#define CG_DIAGONAL 4.01
#define CG_OFF 1e-6

static struct {
    MPI_Comm comm;
    int rows, columns, width; /* of this rank's part; the width is that of p */
    int missing[4];           /* no neighbour above, below, left, right */
    int to[4];
    double *x, *r, *q;        /* rows x columns */
    double *p;                /* with a border around it */
    double *edge;             /* columns of p: two that are sent, two that are received */
} cg;

static void open_cg(void)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, at[2];
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cg.comm);
    MPI_Cart_coords(cg.comm, rank, 2, at);
    MPI_Cart_shift(cg.comm, 0, 1, &cg.to[0], &cg.to[1]);
    MPI_Cart_shift(cg.comm, 1, 1, &cg.to[2], &cg.to[3]);
    for (int k = 0; k < 4; k++)
        cg.missing[k] = cg.to[k] == MPI_PROC_NULL;
    cg.rows = first_of(CG_SIDE, at[0] + 1, dims[0]) - first_of(CG_SIDE, at[0], dims[0]);
    cg.columns = first_of(CG_SIDE, at[1] + 1, dims[1]) - first_of(CG_SIDE, at[1], dims[1]);
    cg.width = cg.columns + 2;
    long n = (long)cg.rows * cg.columns;
    cg.x = calloc(n, 8);
    cg.r = calloc(n, 8);
    cg.q = calloc(n, 8);
    cg.p = calloc((cg.rows + 2) * cg.width, 8);
    cg.edge = calloc(4 * cg.rows, 8);
    if (!cg.x || !cg.r || !cg.q || !cg.p || !cg.edge)
        fail("out of memory", "");
}

static void close_cg(void)
{
    MPI_Comm_free(&cg.comm);
    free(cg.x);
    free(cg.r);
    free(cg.q);
    free(cg.p);
    free(cg.edge);
}

/* cg_exchange fills the border of p with what the neighbours have there. A message has the number of its direction. */
static void cg_exchange(void)
{
    MPI_Request q[8];
    int n = cg.rows, m = cg.columns, w = cg.width;
    for (int i = 0; i < n; i++) {
        cg.edge[i] = cg.p[(i + 1) * w + 1];
        cg.edge[n + i] = cg.p[(i + 1) * w + m];
    }
    MPI_Irecv(cg.p + 1, m, MPI_DOUBLE, cg.to[0], 1, cg.comm, &q[0]);
    MPI_Irecv(cg.p + (n + 1) * w + 1, m, MPI_DOUBLE, cg.to[1], 0, cg.comm, &q[1]);
    MPI_Irecv(cg.edge + 2 * n, n, MPI_DOUBLE, cg.to[2], 3, cg.comm, &q[2]);
    MPI_Irecv(cg.edge + 3 * n, n, MPI_DOUBLE, cg.to[3], 2, cg.comm, &q[3]);
    MPI_Isend(cg.p + w + 1, m, MPI_DOUBLE, cg.to[0], 0, cg.comm, &q[4]);
    MPI_Isend(cg.p + n * w + 1, m, MPI_DOUBLE, cg.to[1], 1, cg.comm, &q[5]);
    MPI_Isend(cg.edge, n, MPI_DOUBLE, cg.to[2], 2, cg.comm, &q[6]);
    MPI_Isend(cg.edge + n, n, MPI_DOUBLE, cg.to[3], 3, cg.comm, &q[7]);
    MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        cg.p[(i + 1) * w] = cg.edge[2 * n + i];
        cg.p[(i + 1) * w + m + 1] = cg.edge[3 * n + i];
    }
}

/* cg_multiply makes q the product of the matrix and p, and returns the dot product of both. */
static double cg_multiply(void)
{
    double dot = 0;
    int w = cg.width;
    for (int i = 0; i < cg.rows; i++) {
        const double *p = cg.p + (i + 1) * w + 1;
        double *q = cg.q + i * cg.columns;
        for (int j = 0; j < cg.columns; j++) {
            double v = CG_DIAGONAL * p[j] - p[j - w] - p[j + w] - p[j - 1] - p[j + 1];
            q[j] = v;
            dot += v * p[j];
        }
    }
    return dot;
}

/* cg_advance moves x by a p and r by -a q, and returns the dot product of r with itself. */
static double cg_advance(double a)
{
    double dot = 0;
    for (int i = 0; i < cg.rows; i++) {
        const double *p = cg.p + (i + 1) * cg.width + 1, *q = cg.q + i * cg.columns;
        double *x = cg.x + i * cg.columns, *r = cg.r + i * cg.columns;
        for (int j = 0; j < cg.columns; j++) {
            x[j] += a * p[j];
            double v = r[j] - a * q[j];
            r[j] = v;
            dot += v * v;
        }
    }
    return dot;
}

/* cg_turn makes p the sum of r and b p. */
static void cg_turn(double b)
{
    for (int i = 0; i < cg.rows; i++) {
        double *p = cg.p + (i + 1) * cg.width + 1;
        const double *r = cg.r + i * cg.columns;
        for (int j = 0; j < cg.columns; j++)
            p[j] = r[j] + b * p[j];
    }
}

/* cg_begin sets x to 0 and r to the right side: the sums of the rows of the matrix. It returns r's dot product. */
static double cg_begin(void)
{
    double dot = 0;
    memset(cg.x, 0, 8L * cg.rows * cg.columns);
    memset(cg.p, 0, 8L * (cg.rows + 2) * cg.width);
    for (int i = 0; i < cg.rows; i++)
        for (int j = 0; j < cg.columns; j++) {
            int outside = (i == 0 && cg.missing[0]) + (i == cg.rows - 1 && cg.missing[1]) +
                          (j == 0 && cg.missing[2]) + (j == cg.columns - 1 && cg.missing[3]);
            double v = CG_DIAGONAL - 4 + outside;
            cg.r[i * cg.columns + j] = v;
            dot += v * v;
        }
    return dot;
}

static double summed(double part)
{
    double sum;
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void run_cg(void)
{
    double rr = summed(cg_begin()), before;
    uint64_t off = 0;
    cg_turn(0);
    for (int step = 0; step < CG_STEPS; step++) {
        cg_exchange();
        double a = rr / summed(cg_multiply());
        before = rr;
        rr = summed(cg_advance(a));
        cg_turn(rr / before);
    }
    for (long i = 0; i < (long)cg.rows * cg.columns; i++)
        off += !(cg.x[i] > 1 - CG_OFF && cg.x[i] < 1 + CG_OFF);
    expect_total("cg", off, 0);
}
