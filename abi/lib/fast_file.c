#include "fast_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "copy.h"
#include "datatype.h"
#include "handle_table.h"
#include "record.h"

/* The longest access in bytes; the kernel makes a longer one in pieces. */
#define LONGEST (UINT64_C(1) << 30)

/*
 * Makes an access by one system call. If the call does not move all bytes, the access goes to Go, which
 * begins it again: that has the same effect. Go finds the end of the file and raises errors.
 */
static int file_access(MPI_File file, MPI_Offset offset, void *buf, int64_t count, MPI_Datatype datatype, MPI_Status *status, uint32_t what) {
	struct halo_entry *e = halo_find(&halo_files, (uintptr_t)file);
	struct halo_type type = halo_type(datatype);
	if (e == NULL || type.kind < HALO_DENSE || (uint64_t)count - 1 >= LONGEST || !HALO_THERE(buf))
		return 0;
	const char *f = e->descriptor;
	if (!(HALO_LOAD(uint32_t, f, HALO_FILE_OPEN) & what))
		return 0;
	int64_t n = count * type.size, unit = I64(f, FILE_UNIT), at;
	if ((uint64_t)n > LONGEST || (unit != 1 && n % unit != 0) || offset < 0 || __builtin_mul_overflow(offset, unit, &at) ||
	    at > I64(f, FILE_MOST) - n)
		return 0;
	at += I64(f, FILE_FIRST);
	int64_t limit = I64(f, FILE_LIMIT);
	int descriptor = I32(f, FILE_DESCRIPTOR), before = errno;
	ssize_t moved;
	if (what == HALO_FILE_READS)
		moved = pread(descriptor, buf, (size_t)n, at);
	else if (limit == 0 || at + n <= limit)
		moved = pwrite(descriptor, buf, (size_t)n, at);
	else
		return 0;
	if (moved != n) {
		errno = before;
		return 0;
	}
	if (status != MPI_STATUS_IGNORE) { /* the struct status of abi/bind */
		status->MPI_SOURCE = MPI_ANY_SOURCE;
		status->MPI_TAG = MPI_ANY_TAG;
		status->MPI_internal[0] = 0; /* not cancelled */
		memcpy(&status->MPI_internal[1], &n, sizeof n);
	}
	return 1;
}

int halo_fast_file_write_at(MPI_File file, MPI_Offset offset, const void *buf, int64_t count, MPI_Datatype datatype, MPI_Status *status) {
	return file_access(file, offset, (void *)buf, count, datatype, status, HALO_FILE_WRITES);
}

int halo_fast_file_read_at(MPI_File file, MPI_Offset offset, void *buf, int64_t count, MPI_Datatype datatype, MPI_Status *status) {
	return file_access(file, offset, buf, count, datatype, status, HALO_FILE_READS);
}
