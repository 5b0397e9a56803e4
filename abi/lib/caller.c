/*
 * caller.c: the place of a call in Fortran. A procedure of Fortran is a function of the Fortran library that
 * calls the procedure of C, whose return address is in that library. In checking mode the program's own call
 * is looked for behind it, as a debugger does. In a static program the two libraries cannot be told apart, and
 * what is named is the function of the Fortran library.
 */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unwind.h>

#include "caller.h"

/* Programs in Fortran have the unwinder, since the library of their language uses it. */
#pragma weak _Unwind_Backtrace
#pragma weak _Unwind_GetIP

uintptr_t halo_fortran_low, halo_fortran_high;

static int look(struct dl_phdr_info *object, size_t size, void *unused) {
	const char *slash = strrchr(object->dlpi_name, '/'), *name = slash ? slash + 1 : object->dlpi_name;
	(void)size, (void)unused;
	if (strncmp(name, "libmpifort_abi", strlen("libmpifort_abi")) != 0)
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
			halo_fortran_high = object->dlpi_addr + part->p_vaddr + part->p_memsz;
			__atomic_store_n(&halo_fortran_low, object->dlpi_addr + part->p_vaddr, __ATOMIC_RELEASE);
		}
	}
	return 1;
}

void halo_find_fortran(void) { dl_iterate_phdr(look, NULL); }

struct search {
	int behind; /* a frame of the Fortran library has been seen */
	uintptr_t caller;
};

static _Unwind_Reason_Code frame(struct _Unwind_Context *c, void *p) {
	struct search *s = p;
	uintptr_t at = _Unwind_GetIP(c);
	if (halo_in_fortran(at)) {
		s->behind = 1;
	} else if (s->behind) {
		s->caller = at;
		return _URC_END_OF_STACK;
	}
	return _URC_NO_REASON;
}

void *halo_caller_in_fortran(void *caller) {
	struct search s = {0, (uintptr_t)caller};
	if (_Unwind_Backtrace != NULL && _Unwind_GetIP != NULL)
		_Unwind_Backtrace(frame, &s);
	return (void *)s.caller;
}
