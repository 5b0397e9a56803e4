/* View.Lock and Unlock of a target on the node whose lock nobody else claims: see fast_lock.c. */
HALO_HIDDEN int halo_fast_win_lock(int type, int rank, int assert, MPI_Win win);
HALO_HIDDEN int halo_fast_win_unlock(int rank, MPI_Win win);

/* View.Sync, in epochs of MPI_Win_lock_all. */
static inline int halo_fast_win_sync(MPI_Win win) {
	char *view = halo_view(win);
	if (view == NULL || !(HALO_LOAD(uint32_t, halo_window(view), HALO_WINDOW_MODE) & HALO_MODE_LOCK_ALL))
		return 0;
	halo_fence();
	return 1;
}
