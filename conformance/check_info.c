/* In checking mode the first call that gets an unknown info key reports it: the lines below that end
 * with the call and the nearest known key in a comment (Halo). The unknown key is the nearest known
 * one with an x appended. The second call of each pair reports nothing. */
#include "check.h"

/* Makes an info with an unknown key and known ones. */
static MPI_Info with(const char *known) {
	char key[MPI_MAX_INFO_KEY];
	MPI_Info info;
	snprintf(key, sizeof key, "%sx", known);
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, key, "true"));
	OK(MPI_Info_set(info, "no_lockx", "true"));
	OK(MPI_Info_set(info, "mpi_win_order", "true"));
	OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
	return info;
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Comm comm, split;
	MPI_Request r;
	MPI_Win win, dup, dynamic;
	void *mem;
	char handle[MPIX_MAX_MEMORY_HANDLE_SIZE];
	int size;
	MPI_Info dups = with("mpi_assert_no_any_tag"), idups = with("mpi_assert_no_any_source"), sets = with("mpi_assert_allow_overtaking");
	MPI_Info splits = with("mpi_hw_resource_type"), allocs = with("mpi_minimum_memory_alignment"), wins = with("mpi_accumulate_granularity");
	MPI_Info windups = with("mpi_win_scope"), winsets = with("mpi_assert_accumulate_intrinsic"), handles = with("mpi_size");
	for (int i = 0; i < 2; i++) {
		OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, dups, &comm)); /* MPI_Comm_dup_with_info mpi_assert_no_any_tag */
		OK(MPI_Comm_free(&comm));
		OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, idups, &comm, &r)); /* MPI_Comm_idup_with_info mpi_assert_no_any_source */
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		OK(MPI_Comm_set_info(comm, sets)); /* MPI_Comm_set_info mpi_assert_allow_overtaking */
		OK(MPI_Comm_free(&comm));
		OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, splits, &split)); /* MPI_Comm_split_type mpi_hw_resource_type */
		OK(MPI_Comm_free(&split));
		OK(MPI_Alloc_mem(64, allocs, &mem)); /* MPI_Alloc_mem mpi_minimum_memory_alignment */
		OK(MPI_Win_create(mem, 64, 1, wins, MPI_COMM_WORLD, &win)); /* MPI_Win_create mpi_accumulate_granularity */
		OK(MPIX_Win_dup_with_info(win, windups, &dup)); /* MPIX_Win_dup_with_info mpi_win_scope */
		OK(MPI_Win_set_info(dup, winsets)); /* MPI_Win_set_info mpi_assert_accumulate_intrinsic */
		OK(MPI_Win_free(&dup));
		OK(MPI_Win_free(&win));
		OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
		OK(MPIX_Memhandle_create(mem, 64, handles, dynamic, handle, &size)); /* MPIX_Memhandle_create mpi_size */
		OK(MPIX_Memhandle_release(handle, dynamic));
		OK(MPI_Win_free(&dynamic));
		OK(MPI_Free_mem(mem));
	}
	MPI_Info *all[] = {&dups, &idups, &sets, &splits, &allocs, &wins, &windups, &winsets, &handles};
	for (int i = 0; i < 9; i++) OK(MPI_Info_free(all[i]));
	return MPI_Finalize();
}
