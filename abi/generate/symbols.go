package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// symbols returns the C file with PMPI_X for each procedure, which passes its arguments to Go, and
// MPI_X, a weak alias of it that tools can replace.
func (t *tables) symbols() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s */\n#include \"../include/mpi.h\"\n", notice)
	for _, header := range headers {
		fmt.Fprintf(&b, "#include %q\n", header)
	}
	b.WriteString("\nconst char *const halo_names[] = {\n")
	for _, p := range t.procedures {
		fmt.Fprintf(&b, "\t%q,\n", p.Name)
	}
	b.WriteString("};\n")
	for _, p := range t.procedures {
		for _, q := range []*abi.Procedure{p, p.Large} {
			if q != nil {
				fmt.Fprintf(&b, "\n%s {\n%s}\nHALO_ALIAS(%s)\n", prototype(q, "PMPI_"), t.body(p, q), q.Name)
			}
		}
	}
	return b.Bytes()
}

// body returns the body of a procedure q, whose form with small counts is p.
func (t *tables) body(p, q *abi.Procedure) string {
	if own, ok := inC[q.Name]; ok {
		return own
	}
	var words []string
	for _, x := range q.Params {
		if x.Name != "" {
			words = append(words, "W("+x.Name+")")
		}
	}
	large := 0
	if q != p {
		large = 1
	}
	var b strings.Builder
	if strings.HasSuffix(q.Name, "_fromint") { // the number of a predefined handle is its value
		fmt.Fprintf(&b, "\tif ((unsigned)%s < 0x1000)\n\t\treturn (%s)(uintptr_t)(unsigned)%s;\n", q.Params[0].Name, q.Returns, q.Params[0].Name)
		known := "halo_from_int(" + q.Params[0].Name + ")"
		if table := knownHandles[q.Returns]; table != "" {
			known = fmt.Sprintf("halo_known(&%s, %s)", table, q.Params[0].Name)
		}
		fmt.Fprintf(&b, "\tuintptr_t known = %s;\n\tif (known != 0)\n\t\treturn (%s)known;\n", known, q.Returns)
	}
	if q.Returns != "int" { // MPI_X_fromint
		fmt.Fprintf(&b, "\t%s result = 0;\n", q.Returns)
		words = append(words, "W(&result)")
	}
	b.WriteString(tries(p, q, large, words))
	if fast := inline[p.Name]; fast != "" {
		var names []string
		for _, x := range q.Params {
			names = append(names, x.Name)
		}
		if strings.HasPrefix(fast, "halo_coll_") {
			fmt.Fprintf(&b, "\tint code = %s(%s);\n\tif (code != HALO_LEFT)\n\t\treturn code;\n", fast, strings.Join(names, ", "))
		} else {
			fmt.Fprintf(&b, "\tif (%s(%s))\n\t\treturn MPI_SUCCESS;\n", fast, strings.Join(names, ", "))
		}
	}
	args := "0"
	if len(words) > 0 {
		fmt.Fprintf(&b, "\tword words[] = {%s};\n", strings.Join(words, ", "))
		args = "words"
	}
	call := fmt.Sprintf("haloCall(%d, %d, %s)", p.Number, large, args)
	if q.Returns != "int" {
		fmt.Fprintf(&b, "\t%s;\n\treturn result;\n", call)
	} else {
		fmt.Fprintf(&b, "\treturn %s;\n", call)
	}
	return b.String()
}

// inC holds the bodies of procedures that never enter Go: the clock, arithmetic on addresses, and
// conversions of handles to integers.
var inC = func() map[string]string {
	m := map[string]string{
		"MPI_Wtime":     "\treturn halo_wtime();\n",
		"MPI_Wtick":     "\treturn 1e-9;\n",
		"MPI_Aint_add":  "\treturn (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);\n",
		"MPI_Aint_diff": "\treturn (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);\n",
		"MPIX_Sync_c2f": "\treturn (MPI_Aint)(uintptr_t)sync;\n",
		"MPIX_Sync_f2c": "\treturn (MPIX_Sync)(uintptr_t)sync;\n",
	}
	for name, param := range map[string]string{
		"Errhandler": "errhandler", "File": "file", "Group": "group", "Info": "info", "Message": "message", "Op": "op",
		"Request": "request", "Session": "session",
	} {
		m["MPI_"+name+"_toint"] = "\treturn halo_to_int((uintptr_t)" + param + ");\n"
	}
	for name, param := range map[string]string{"Comm": "comm", "Type": "datatype", "Win": "win"} { // C has tables of them
		m["MPI_"+name+"_toint"] = "\treturn (int)((uintptr_t)" + param + " & 0x7fffffff);\n"
	}
	return m
}()

// knownHandles maps kinds of handles to the tables of those that C knows: their integers, which
// Fortran has, are converted without entering Go. So are those of all other kinds that were made from
// handles last (halo_from_int).
var knownHandles = map[string]string{"MPI_Comm": "halo_comms", "MPI_Datatype": "halo_datatypes", "MPI_Win": "halo_wins"}

// headers are those of abi/lib that the bodies of procedures need.
var headers = []string{
	"call.h", "clock.h", "compiler.h", "fast_accumulate.h", "fast_coll.h", "fast_comm.h", "fast_element.h", "fast_file.h", "fast_integer.h", "fast_pack.h",
	"fast_put_get.h", "fast_receive.h", "fast_reduce_local.h", "fast_rput.h", "fast_send.h", "fast_type.h", "fast_wait.h", "fast_win_lock.h",
	"handle_table.h", "names.h", "wild.h", "word.h",
}

// inline maps procedures, by the name of the form with small counts, to their fast paths in C. The
// function of a fast path returns whether it has done all of the call; that of a collective returns
// the error code, or HALO_LEFT if it has done nothing.
var inline = map[string]string{
	"MPI_Put": "halo_fast_put", "MPI_Get": "halo_fast_get", "MPI_Accumulate": "halo_fast_accumulate",
	"MPI_Get_accumulate": "halo_fast_get_accumulate", "MPI_Fetch_and_op": "halo_fast_fetch_and_op",
	"MPI_Compare_and_swap": "halo_fast_compare_and_swap", "MPI_Win_flush": "halo_fast_flush",
	"MPI_Win_flush_local": "halo_fast_flush", "MPI_Win_sync": "halo_fast_win_sync", "MPI_Win_lock": "halo_fast_win_lock", "MPI_Win_unlock": "halo_fast_win_unlock", "MPI_Comm_rank": "halo_fast_comm_rank",
	"MPI_Comm_size": "halo_fast_comm_size", "MPI_Type_size": "halo_fast_type_size", "MPI_Type_size_x": "halo_fast_type_size",
	"MPI_Type_commit":     "halo_fast_type_commit",
	"MPI_Type_get_extent": "halo_fast_type_extent", "MPI_Type_get_extent_x": "halo_fast_type_extent",
	"MPI_Type_get_true_extent": "halo_fast_type_true_extent", "MPI_Type_get_true_extent_x": "halo_fast_type_true_extent",
	"MPI_Barrier": "halo_coll_barrier", "MPI_Bcast": "halo_coll_bcast", "MPI_Allreduce": "halo_coll_allreduce",
	"MPI_Allgather": "halo_coll_allgather", "MPI_Alltoall": "halo_coll_alltoall",
	"MPI_Send": "halo_fast_send", "MPI_Isend": "halo_fast_isend", "MPI_Rsend": "halo_fast_send", "MPI_Irsend": "halo_fast_isend", "MPI_Recv": "halo_fast_recv",
	"MPI_Irecv":        "halo_fast_irecv",
	"MPI_Reduce_local": "halo_fast_reduce_local",
	"MPI_Rput":         "halo_fast_rput", "MPI_Rget": "halo_fast_rget", "MPI_Raccumulate": "halo_fast_raccumulate",
	"MPI_Rget_accumulate": "halo_fast_rget_accumulate", "MPI_Wait": "halo_fast_wait", "MPI_Test": "halo_fast_test",
	"MPI_Waitall": "halo_fast_waitall", "MPI_Testall": "halo_fast_testall",
	"MPI_File_write_at": "halo_fast_file_write_at", "MPI_File_read_at": "halo_fast_file_read_at",
	"MPI_Pack": "halo_fast_pack", "MPI_Unpack": "halo_fast_unpack",
}
