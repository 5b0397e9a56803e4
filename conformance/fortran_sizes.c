/* The Fortran types have the sizes that a Fortran library sets before MPI_Init. Unsupported values, a
 * second call, and a late call return MPI_ERR_ABI and change nothing (MPI-5, chapter 20; Halo). */
#include "check.h"
#include <stdint.h>

#define IS(call, class) \
	do { \
		int code_ = (call); \
		if (code_ != (class)) early = __LINE__; \
	} while (0)

static int early; /* the line of an error before MPI_Init */

static int set(const char *key, const char *value, const char *key2, const char *value2) {
	MPI_Info i;
	MPI_Info_create(&i);
	MPI_Info_set(i, key, value);
	if (key2) MPI_Info_set(i, key2, value2);
	if (key2) MPI_Info_set(i, "mpi_real_size", "8"), MPI_Info_set(i, "mpi_double_precision_size", "16");
	int code = MPI_Abi_set_fortran_info(i);
	MPI_Info_free(&i);
	return code;
}

/* Whether the info says this. */
static int told(const char *key, const char *want) {
	MPI_Info i;
	char text[20] = "";
	int flag = 0, len = sizeof text;
	IS(MPI_Abi_get_fortran_info(&i), MPI_SUCCESS);
	if (i == MPI_INFO_NULL) return 0;
	IS(MPI_Info_get_string(i, key, &len, text, &flag), MPI_SUCCESS);
	IS(MPI_Info_free(&i), MPI_SUCCESS);
	return flag && strcmp(text, want) == 0;
}

static void has(const char *name, MPI_Datatype t, int want) {
	int n = -1, len;
	char text[MPI_MAX_OBJECT_NAME];
	MPI_Aint lb, extent;
	OK(MPI_Type_size(t, &n));
	OK(MPI_Type_get_extent(t, &lb, &extent));
	OK(MPI_Type_get_name(t, text, &len));
	CHECK(n == want && extent == want && lb == 0 && strcmp(text, name) == 0, "%s (%s) has %d bytes, extent %d", name, text, n, (int)extent);
}

/* Where Fortran's true is -1, so are the true results of reductions and accumulates on its logicals,
 * of every size but 1; integers of C and C's bool have 1. */
static void logicals_of_all_ones(void) {
	int32_t mine[3] = {rank == 0 ? -1 : 0, -1, 0}, any[3], *mem, was = 7;
	int64_t mine8 = rank == 0 ? -1 : 0, any8 = 7;
	int8_t bool1 = rank == 0, any1 = 7;
	int number = rank == 0 ? -1 : 0, truth = 7;
	MPI_Win w;
	OK(MPI_Allreduce(mine, any, 3, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD));
	CHECK(any[0] == -1 && any[1] == -1 && any[2] == 0, "any %d %d %d", any[0], any[1], any[2]);
	OK(MPI_Allreduce(mine, any, 3, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD));
	CHECK(any[0] == (size == 1 ? -1 : 0) && any[1] == -1 && any[2] == 0, "all %d %d %d", any[0], any[1], any[2]);
	OK(MPI_Allreduce(mine, any, 3, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD));
	CHECK(any[0] == -1 && any[1] == -(size % 2) && any[2] == 0, "odd %d %d %d", any[0], any[1], any[2]);
	OK(MPI_Allreduce(&mine8, &any8, 1, MPI_LOGICAL8, MPI_LOR, MPI_COMM_WORLD));
	CHECK(any8 == -1);
	OK(MPI_Allreduce(&bool1, &any1, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD));
	CHECK(any1 == 1);
	OK(MPI_Allreduce(&number, &truth, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD));
	CHECK(truth == (size == 1 ? number : 1));
	any[0] = 0;
	OK(MPI_Reduce_local(mine + 1, any, 1, MPI_LOGICAL, MPI_LXOR));
	CHECK(any[0] == -1);

	OK(MPI_Win_allocate(2 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w));
	mem[0] = mem[1] = 0;
	OK(MPI_Win_fence(0, w));
	OK(MPI_Accumulate(mine, 2, MPI_LOGICAL, size - 1, 0, 2, MPI_LOGICAL, MPI_LOR, w));
	OK(MPI_Win_fence(0, w));
	CHECK(rank < size - 1 || (mem[0] == -1 && mem[1] == -1), "accumulated %d %d", mem[0], mem[1]);
	OK(MPI_Fetch_and_op(mine + 2, &was, MPI_LOGICAL, rank, 1, MPI_LOR, w));
	OK(MPI_Win_fence(0, w));
	CHECK(was == mem[1] && was == (rank < size - 1 ? 0 : -1), "fetched %d", was);
	OK(MPI_Win_free(&w));
}

int main(int argc, char **argv) {
	int large = argc > 1 && strcmp(argv[1], "large") == 0, logicals = argc > 1 && strcmp(argv[1], "logicals") == 0;
	int minus_one = argc > 1 && strcmp(argv[1], "minus_one") == 0;
	int64_t yes = 1, no = 0, minus = -1, two = 2, got[2] = {7, 7};
	int32_t yes4 = 1, no4 = 0;
	int is_set = -1;
	if (!told("mpi_integer_size", "4") || !told("mpi_double_precision_size", "8") || !told("mpi_logical16_supported", "true")
		|| !told("mpi_real2_supported", "false")) early = __LINE__;
	IS(MPI_Abi_get_fortran_booleans(8, got, got + 1, &is_set), MPI_SUCCESS);
	if (is_set != 0 || got[0] != 1 || got[1] != 0) early = __LINE__;
	IS(set("mpi_integer_size", "3", NULL, NULL), MPI_ERR_ABI);
	IS(set("mpi_real_size", "1", NULL, NULL), MPI_ERR_ABI);
	IS(set("mpi_logical_size", "large", NULL, NULL), MPI_ERR_ABI);
	IS(MPI_Abi_set_fortran_booleans(1, &minus, &no), MPI_ERR_ABI); /* C's bool has the same type */
	IS(MPI_Abi_set_fortran_booleans(8, &yes, &minus), MPI_ERR_ABI);
	IS(MPI_Abi_set_fortran_booleans(8, &two, &no), MPI_ERR_ABI);
	IS(MPI_Abi_set_fortran_booleans(8, &yes, &yes), MPI_ERR_ABI);
	IS(MPI_Abi_set_fortran_booleans(8, &no, &yes), MPI_ERR_ABI);
	IS(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
	if (large) {
		IS(set("mpi_integer_size", "8", "mpi_logical_size", "8"), MPI_SUCCESS);
		IS(set("mpi_integer_size", "4", NULL, NULL), MPI_ERR_ABI);
		IS(MPI_Abi_set_fortran_booleans(4, &yes4, &no4), MPI_ERR_ABI);
		IS(MPI_Abi_set_fortran_booleans(8, &yes, &no), MPI_SUCCESS);
		IS(MPI_Abi_set_fortran_booleans(8, &yes, &no), MPI_ERR_ABI);
	}
	if (logicals) {
		IS(MPI_Abi_set_fortran_booleans(8, &yes, &no), MPI_SUCCESS);
		IS(set("mpi_logical_size", "4", NULL, NULL), MPI_ERR_ABI);
		if (!told("mpi_logical_size", "8") || !told("mpi_integer_size", "4")) early = __LINE__;
	}
	if (minus_one) {
		IS(MPI_Abi_set_fortran_booleans(4, &minus, &no), MPI_SUCCESS);
		IS(MPI_Abi_set_fortran_booleans(4, &minus, &no), MPI_ERR_ABI);
	}
	begin(&argc, &argv);
	CHECK(early == 0, "line %d, before MPI_Init", early);
	FAILS(set("mpi_integer_size", "8", NULL, NULL), MPI_ERR_ABI);
	FAILS(MPI_Abi_set_fortran_booleans(8, &yes, &no), MPI_ERR_ABI);

	int integer = large ? 8 : 4, logical = large || logicals ? 8 : 4, real = large ? 8 : 4, twice = large ? 16 : 8;
	has("MPI_INTEGER", MPI_INTEGER, integer);
	has("MPI_LOGICAL", MPI_LOGICAL, logical);
	has("MPI_REAL", MPI_REAL, real);
	has("MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, twice);
	has("MPI_COMPLEX", MPI_COMPLEX, 2 * real);
	has("MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, 2 * twice);
	has("MPI_2INTEGER", MPI_2INTEGER, 2 * integer);
	has("MPI_2REAL", MPI_2REAL, 2 * real);
	has("MPI_INTEGER4", MPI_INTEGER4, 4);
	has("MPI_INT", MPI_INT, 4);

	/* Reductions, in collectives and in windows. */
	const int64_t big = (int64_t)1 << 33;
	int64_t v[2] = {rank, rank == 1}, sum[2] = {-1, -1};
	double x = 0.5, xs = 0;
	if (large) {
		v[0] += big;
		OK(MPI_Allreduce(v, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD));
		CHECK(sum[0] == size * big + size * (size - 1) / 2, "the sum is %lld", (long long)sum[0]);
		OK(MPI_Allreduce(&x, &xs, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD));
		CHECK(xs == 0.5 * size, "the sum of reals is %g", xs);
		int64_t pair[2] = {big + rank, rank}, most[2];
		OK(MPI_Allreduce(pair, most, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD));
		CHECK(most[0] == big + size - 1 && most[1] == size - 1, "%lld at %lld", (long long)most[0], (long long)most[1]);
		int64_t *mem, one = big;
		MPI_Win w;
		OK(MPI_Win_allocate(2 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &w));
		mem[0] = mem[1] = 0;
		OK(MPI_Win_fence(0, w));
		OK(MPI_Accumulate(&one, 1, MPI_INTEGER, 0, 1, 1, MPI_INTEGER, MPI_SUM, w));
		OK(MPI_Win_fence(0, w));
		CHECK(rank != 0 || (mem[0] == 0 && mem[1] == size * big), "accumulated %lld", (long long)mem[1]);
		OK(MPI_Win_free(&w));
		CHECK(told("mpi_integer_size", "8"), "the info does not say what was set");
	}
	if (logical == 8) {
		OK(MPI_Allreduce(v + 1, sum + 1, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD));
		CHECK(sum[1] == (size > 1), "any: %lld", (long long)sum[1]);
		OK(MPI_Abi_get_fortran_booleans(8, got, got + 1, &is_set));
		CHECK(is_set && got[0] == 1 && got[1] == 0, "%lld and %lld", (long long)got[0], (long long)got[1]);
		FAILS(MPI_Abi_get_fortran_booleans(4, got, got + 1, &is_set), MPI_ERR_ARG);
	}
	if (minus_one) {
		logicals_of_all_ones();
		OK(MPI_Abi_get_fortran_booleans(4, got, got + 1, &is_set));
		CHECK(is_set && (int32_t)got[0] == -1 && (int32_t)got[1] == 0);
	}
	return done();
}
