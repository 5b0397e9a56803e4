/*
 * comm_handles: communicators and groups (MPI-5, chapter 7): they are made, compared,
 * named and freed; null and freed handles are errors.
 */
#include "check.h"

static int n, me;

static void groups(void)
{
	MPI_Group world, odd, even, none, all, some;
	int i, size, rank, result;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_size(world, &size);
	MPI_Group_rank(world, &rank);
	CHECK(size == n && rank == me);
	int *ranks = malloc(sizeof(int) * (n + 1)), *to = malloc(sizeof(int) * (n + 1)), m = 0;
	for (i = 1; i < n; i += 2)
		ranks[m++] = i;
	MPI_Group_incl(world, m, ranks, &odd);
	MPI_Group_excl(world, m, ranks, &even);
	MPI_Group_intersection(odd, even, &none);
	CHECK(none == MPI_GROUP_EMPTY);
	MPI_Group_union(even, odd, &all);
	MPI_Group_compare(world, all, &result);
	CHECK(result == (n <= 2 ? MPI_IDENT : MPI_SIMILAR));
	MPI_Group_compare(world, even, &result);
	CHECK(result == (n == 1 ? MPI_IDENT : MPI_UNEQUAL));
	int range[1][3] = {{n - 1, 0, -1}};
	MPI_Group_range_incl(world, 1, range, &some);
	for (i = 0; i < n; i++)
		ranks[i] = i;
	ranks[n] = MPI_PROC_NULL;
	MPI_Group_translate_ranks(some, n + 1, ranks, world, to);
	for (i = 0; i < n; i++)
		CHECK(to[i] == n - 1 - i);
	CHECK(to[n] == MPI_PROC_NULL);
	MPI_Group_translate_ranks(world, n, ranks, even, to);
	for (i = 0; i < n; i++)
		CHECK(to[i] == (i % 2 ? MPI_UNDEFINED : i / 2));
	MPI_Group_difference(world, odd, &none);
	MPI_Group_compare(none, even, &result);
	CHECK(result == MPI_IDENT);
	MPI_Group_rank(even, &rank);
	CHECK(rank == (me % 2 ? MPI_UNDEFINED : me / 2));

	MPI_Comm c;
	MPI_Comm_create(MPI_COMM_WORLD, even, &c);
	CHECK((c == MPI_COMM_NULL) == (me % 2 == 1));
	if (c != MPI_COMM_NULL) {
		MPI_Comm d;
		MPI_Comm_create_group(c, even, 5, &d);
		MPI_Comm_compare(c, d, &result);
		CHECK(result == MPI_CONGRUENT);
		MPI_Comm_free(&d);
		MPI_Comm_free(&c);
	}
	CHECK(c == MPI_COMM_NULL);

	MPI_Group bad = odd;
	if (odd != MPI_GROUP_EMPTY) {
		MPI_Group_free(&odd);
		CHECK(odd == MPI_GROUP_NULL);
		FAILS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
#ifdef MPI_ABI_VERSION /* other libraries crash */
		FAILS(MPI_Group_size(bad, &size), MPI_ERR_GROUP);
#endif
	}
	(void)bad;
	ranks[0] = n;
	FAILS(MPI_Group_incl(world, 1, ranks, &odd), MPI_ERR_RANK);
	MPI_Group_free(&world);
	MPI_Group_free(&even);
	MPI_Group_free(&all);
	MPI_Group_free(&some);
	MPI_Group_free(&none);
	free(ranks);
	free(to);
}

static void communicators(void)
{
	MPI_Comm dup, split, c;
	MPI_Request q;
	int result, flag, size, rank, len;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_compare(dup, MPI_COMM_WORLD, &result);
	CHECK(result == MPI_CONGRUENT);
	MPI_Comm_compare(dup, dup, &result);
	CHECK(result == MPI_IDENT);
	MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
	CHECK(result == (n == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
	MPI_Comm_get_name(dup, name, &len);
	CHECK(len == 0 && name[0] == 0);
	MPI_Comm_set_name(dup, "a name");
	MPI_Comm_get_name(dup, name, &len);
	CHECK(len == 6 && strcmp(name, "a name") == 0);
	MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
	CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
	MPI_Comm_get_name(MPI_COMM_SELF, name, &len);
	CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
	MPI_Comm_test_inter(dup, &flag);
	CHECK(flag == 0);
	FAILS(MPI_Comm_remote_size(dup, &size), MPI_ERR_COMM);
	MPI_Group g;
	FAILS(MPI_Comm_remote_group(dup, &g), MPI_ERR_COMM);

	MPI_Comm_split(dup, me % 2 ? MPI_UNDEFINED : 3, -me, &split);
	CHECK((split == MPI_COMM_NULL) == (me % 2));
	if (split != MPI_COMM_NULL) {
		MPI_Comm_size(split, &size);
		MPI_Comm_rank(split, &rank);
		CHECK(size == (n + 1) / 2 && rank == size - 1 - me / 2);
		MPI_Comm_disconnect(&split);
		CHECK(split == MPI_COMM_NULL);
	}
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &split);
	MPI_Comm_size(split, &size);
	CHECK(size >= 1 && size <= n);
	MPI_Comm_free(&split);
	MPI_Comm_idup(dup, &c, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	int sum = 0, one = 1;
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
	CHECK(sum == n);
	MPI_Comm_free(&c);
	MPI_Comm_free(&dup);
	CHECK(dup == MPI_COMM_NULL);

	c = MPI_COMM_WORLD;
	FAILS(MPI_Comm_free(&c), MPI_ERR_COMM);
	CHECK(c == MPI_COMM_WORLD);
	FAILS(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
	FAILS(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
	MPI_Info info;
	MPI_Comm_get_info(MPI_COMM_WORLD, &info);
	CHECK(info != MPI_INFO_NULL);
	MPI_Comm_set_info(MPI_COMM_WORLD, info);
	MPI_Info_free(&info);
	CHECK(info == MPI_INFO_NULL);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	groups();
	communicators();
	return done();
}
