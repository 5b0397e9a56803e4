/*
 * A part of proxy.h: a Fourier transform in three dimensions. Every rank has planes of the cube, and transforms the
 * lines in them; a transposition by Alltoall brings it the lines of the third dimension. The data are one wave, of
 * which the transform is one point, and the inverse transform restores them.
 */

#define FFT_SIDE 32
#define FFT_ROUNDS 60
#define FFT_OFF 1e-6
#define FFT_COS 0.98078528040323044913 /* of a 32nd of a circle */
#define FFT_SIN 0.19509032201612826785

static const int fft_wave[3] = {7, 5, 3}; /* waves in the directions z, y and x */

/* Numbers are complex. The order of cube is z, y, x, this rank having some z; the order of turned is the same, this
 * rank having some y. */
static struct {
    int planes;
    double *cube, *turned, *packed;
    double root[2 * FFT_SIDE];
    int reversed[FFT_SIDE];
} fft;

static void open_fft(void)
{
    if (FFT_SIDE % ranks)
        fail("fft takes numbers of ranks that divide 32", "");
    fft.planes = FFT_SIDE / ranks;
    long bytes = 16L * fft.planes * FFT_SIDE * FFT_SIDE;
    fft.cube = malloc(bytes);
    fft.turned = malloc(bytes);
    fft.packed = malloc(bytes);
    if (!fft.cube || !fft.turned || !fft.packed)
        fail("out of memory", "");
    double re = 1, im = 0;
    for (int i = 0; i < FFT_SIDE; i++) {
        fft.root[2 * i] = re;
        fft.root[2 * i + 1] = -im;
        double next = re * FFT_COS - im * FFT_SIN;
        im = re * FFT_SIN + im * FFT_COS;
        re = next;
        fft.reversed[i] = (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
    }
}

static void close_fft(void)
{
    free(fft.cube);
    free(fft.turned);
    free(fft.packed);
}

/* fft_line transforms a line whose numbers are stride apart; way is 1, or -1 for the inverse. */
static void fft_line(double *line, long stride, double way)
{
    double re[FFT_SIDE], im[FFT_SIDE], scale = way > 0 ? 1 : 1.0 / FFT_SIDE;
    for (int i = 0; i < FFT_SIDE; i++) {
        re[fft.reversed[i]] = line[2 * stride * i];
        im[fft.reversed[i]] = line[2 * stride * i + 1];
    }
    for (int half = 1, step = FFT_SIDE; half < FFT_SIDE; half *= 2, step /= 2)
        for (int k = 0; k < half; k++) {
            double cosine = fft.root[step * k], sine = way * fft.root[step * k + 1];
            for (int i = k; i < FFT_SIDE; i += 2 * half) {
                int j = i + half;
                double x = re[j] * cosine - im[j] * sine, y = re[j] * sine + im[j] * cosine;
                re[j] = re[i] - x;
                im[j] = im[i] - y;
                re[i] += x;
                im[i] += y;
            }
        }
    for (int i = 0; i < FFT_SIDE; i++) {
        line[2 * stride * i] = re[i] * scale;
        line[2 * stride * i + 1] = im[i] * scale;
    }
}

static void fft_planes(double way)
{
    for (int z = 0; z < fft.planes; z++) {
        double *plane = fft.cube + 2L * z * FFT_SIDE * FFT_SIDE;
        for (int y = 0; y < FFT_SIDE; y++)
            fft_line(plane + 2 * y * FFT_SIDE, 1, way);
        for (int x = 0; x < FFT_SIDE; x++)
            fft_line(plane + 2 * x, FFT_SIDE, way);
    }
}

static void fft_turned_lines(double way)
{
    long n = (long)fft.planes * FFT_SIDE;
    for (long i = 0; i < n; i++)
        fft_line(fft.turned + 2 * i, n, way);
}

/* fft_transpose brings the numbers from cube to turned, or back. A block for a rank has its y of all z here. */
static void fft_transpose(int back)
{
    long piece = 2L * fft.planes * FFT_SIDE, block = fft.planes * piece;
    if (back)
        MPI_Alltoall(fft.turned, block, MPI_DOUBLE, fft.packed, block, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (int z = 0; z < fft.planes; z++) {
            double *packed = fft.packed + r * block + z * piece, *cube = fft.cube + 2L * z * FFT_SIDE * FFT_SIDE + r * piece;
            if (back)
                memcpy(cube, packed, piece * 8);
            else
                memcpy(packed, cube, piece * 8);
        }
    if (!back)
        MPI_Alltoall(fft.packed, block, MPI_DOUBLE, fft.turned, block, MPI_DOUBLE, MPI_COMM_WORLD);
}

static int fft_off(const double *at, double re, double im)
{
    double x = at[0] - re, y = at[1] - im;
    return !(x < FFT_OFF && x > -FFT_OFF && y < FFT_OFF && y > -FFT_OFF);
}

/* fft_cube writes the wave, or counts the numbers that differ from it. */
static long fft_cube(int check)
{
    long off = 0;
    double *at = fft.cube;
    for (int z = rank * fft.planes; z < (rank + 1) * fft.planes; z++)
        for (int y = 0; y < FFT_SIDE; y++)
            for (int x = 0; x < FFT_SIDE; x++, at += 2) {
                int phase = (fft_wave[0] * z + fft_wave[1] * y + fft_wave[2] * x) % FFT_SIDE;
                double re = fft.root[2 * phase], im = -fft.root[2 * phase + 1];
                if (check) {
                    off += fft_off(at, re, im);
                } else {
                    at[0] = re;
                    at[1] = im;
                }
            }
    return off;
}

/* fft_point reports whether this rank has the point of the transform, and it is wrong. */
static int fft_point(void)
{
    int y = fft_wave[1] - rank * fft.planes;
    if (y < 0 || y >= fft.planes)
        return 0;
    return fft_off(fft.turned + 2L * ((fft_wave[0] * fft.planes + y) * FFT_SIDE + fft_wave[2]), FFT_SIDE * FFT_SIDE * FFT_SIDE, 0);
}

static void run_fft(void)
{
    uint64_t off = 0;
    fft_cube(0);
    for (int i = 0; i < FFT_ROUNDS; i++) {
        fft_planes(1);
        fft_transpose(0);
        fft_turned_lines(1);
        off += fft_point();
        fft_turned_lines(-1);
        fft_transpose(1);
        fft_planes(-1);
    }
    expect_total("fft", off + fft_cube(1), 0);
}
