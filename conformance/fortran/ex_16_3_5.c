#include <mpi.h>
#include <string.h>

MPI_Fint c_checks_f_(MPI_Fint *f_status, MPI_Fint *count);
MPI_Fint c_checks_(MPI_Fint *f_status, MPI_F08_status *f08_status, MPI_Fint *count);
MPI_Fint c_ignores_(void *none, void *all);

static int is(const MPI_Status *s, int count)
{
	int n;
	MPI_Get_count(s, MPI_INT, &n);
	return s->MPI_SOURCE == 0 && s->MPI_TAG == 12 && n == count;
}

MPI_Fint c_checks_f_(MPI_Fint *f_status, MPI_Fint *count)
{
	MPI_Status s;
	MPI_Fint back[MPI_F_STATUS_SIZE];
	return MPI_Status_f2c(f_status, &s) == MPI_SUCCESS && is(&s, *count) && MPI_Status_c2f(&s, back) == MPI_SUCCESS
		&& memcmp(back, f_status, sizeof back) == 0;
}

MPI_Fint c_checks_(MPI_Fint *f_status, MPI_F08_status *f08_status, MPI_Fint *count)
{
	MPI_Status a, b;
	MPI_Fint f[MPI_F_STATUS_SIZE];
	MPI_F08_status f08;
	if (MPI_Status_f2c(f_status, &a) || MPI_Status_f082c(f08_status, &b) || !is(&a, *count) || !is(&b, *count))
		return 0;
	if (MPI_Status_c2f(&a, f) || MPI_Status_c2f08(&b, &f08))
		return 0;
	return memcmp(f, f_status, sizeof f) == 0 && memcmp(&f08, f08_status, sizeof f08) == 0;
}

MPI_Fint c_ignores_(void *none, void *all)
{
	return (none == MPI_F_STATUS_IGNORE && all == MPI_F_STATUSES_IGNORE)
		|| (none == MPI_F08_STATUS_IGNORE && all == MPI_F08_STATUSES_IGNORE);
}
