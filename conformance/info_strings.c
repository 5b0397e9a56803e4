/*
 * info_strings: infos (MPI-5, chapter 10): keys and values are returned as they were set, truncated
 * if the buffer is too short; and classes of errors.
 */
#include "check.h"

int main(int argc, char **argv)
{
	MPI_Info i, j;
	int flag, n, len;
	char value[64], key[MPI_MAX_INFO_KEY];
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Info_create(&i);
	MPI_Info_set(i, "first", "a longer value");
	MPI_Info_set(i, "second", "2");
	MPI_Info_set(i, "second", "two");
	MPI_Info_get_nkeys(i, &n);
	CHECK(n == 2);
	MPI_Info_get_nthkey(i, 1, key);
	CHECK(strcmp(key, "second") == 0);
	MPI_Info_get(i, "second", 63, value, &flag);
	CHECK(flag && strcmp(value, "two") == 0);
	MPI_Info_get(i, "first", 3, value, &flag);
	CHECK(flag && strcmp(value, "a l") == 0);
	MPI_Info_get(i, "none", 3, value, &flag);
	CHECK(!flag);
	MPI_Info_get_valuelen(i, "first", &len, &flag);
	CHECK(flag && len == 14);
#if MPI_VERSION >= 4
	len = 4;
	MPI_Info_get_string(i, "first", &len, value, &flag);
	CHECK(flag && len == 15 && strcmp(value, "a l") == 0);
	len = 0;
	value[0] = 'x';
	MPI_Info_get_string(i, "second", &len, value, &flag);
	CHECK(flag && len == 4 && value[0] == 'x');
#endif
	MPI_Info_dup(i, &j);
	MPI_Info_delete(i, "first");
	FAILS(MPI_Info_delete(i, "first"), MPI_ERR_INFO_NOKEY);
	MPI_Info_get_nkeys(j, &n);
	CHECK(n == 2);
	FAILS(MPI_Info_set(i, "", "x"), MPI_ERR_INFO_KEY);
	char longest[MPI_MAX_INFO_KEY + 1]; /* the constant counts the end of the string (E2-20) */
	memset(longest, 'k', MPI_MAX_INFO_KEY);
	longest[MPI_MAX_INFO_KEY] = 0;
	FAILS(MPI_Info_set(i, longest, "x"), MPI_ERR_INFO_KEY);
	longest[MPI_MAX_INFO_KEY - 1] = 0;
	FAILS(MPI_Info_set(i, longest, "x"), MPI_SUCCESS);
	FAILS(MPI_Info_set(MPI_INFO_NULL, "k", "v"), MPI_ERR_INFO);
	MPI_Info_free(&i);
	MPI_Info_free(&j);
	CHECK(i == MPI_INFO_NULL);
	MPI_Info_get(MPI_INFO_ENV, "command", 63, value, &flag);
	return done();
}
