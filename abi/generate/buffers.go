package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// buffer is an argument that a call accesses. C probes its memory before anything else: see
// abi/lib/wild.h.
type buffer struct {
	name string
	wild string // C expression for an address that cannot be accessed, or NULL
	sink bool   // the call writes the buffer instead of reading it
	// when is the C expression for whether the call accesses the buffer; "" is always. An argument
	// that the call does not access may have any value, and C must not probe it: a signal handler
	// of the program would receive the fault.
	when string
}

func source(name, count, datatype, when string) buffer {
	return buffer{name, fmt.Sprintf("halo_wild_source(%s, %s, %s)", name, count, datatype), false, when}
}

func sink(name, count, datatype, when string) buffer {
	return buffer{name, fmt.Sprintf("halo_wild_sink(%s, %s, %s)", name, count, datatype), true, when}
}

func memory(name, size string) buffer {
	return buffer{name, fmt.Sprintf("halo_wild_bytes(%s, %s)", name, size), false, ""}
}

// accessed holds the buffers of calls, by the name without MPI_, MPIX_, suffixes, and the letters
// I, R and Rr of forms with a request. Calls with arrays of counts have only the buffer of the side
// without an array. Persistent calls have none: their memory need not exist before they start.
var accessed = func() map[string][]buffer {
	const (
		toSomebody   = "dest != MPI_PROC_NULL"
		fromSomebody = "source != MPI_PROC_NULL"
		toTarget     = "target_rank != MPI_PROC_NULL"
		operand      = "op != MPI_NO_OP && " + toTarget
		member       = "root >= 0" // on an intercommunicator: in the group without the root
		root         = "halo_is_root(root, comm)"
	)
	send := []buffer{source("buf", "count", "datatype", toSomebody)}
	put := []buffer{source("origin_addr", "origin_count", "origin_datatype", toTarget)}
	gathered := source("sendbuf", "sendcount", "sendtype", "")
	spread := sink("recvbuf", "recvcount", "recvtype", "")
	all := []buffer{source("sendbuf", "count", "datatype", ""), sink("recvbuf", "count", "datatype", "")}
	return map[string][]buffer{
		"Send": send, "Bsend": send, "Ssend": send, "Rsend": send,
		"Recv": {sink("buf", "count", "datatype", fromSomebody)},
		"Sendrecv": {source("sendbuf", "sendcount", "sendtype", toSomebody),
			sink("recvbuf", "recvcount", "recvtype", fromSomebody)},
		"Sendrecv_replace": {source("buf", "count", "datatype", toSomebody), sink("buf", "count", "datatype", fromSomebody)},

		"Bcast": {source("buffer", "count", "datatype", "root != MPI_PROC_NULL"),
			sink("buffer", "count", "datatype", "root >= 0 && !"+root)},
		"Gather":     {source("sendbuf", "sendcount", "sendtype", member), sink("recvbuf", "recvcount", "recvtype", root)},
		"Gatherv":    {source("sendbuf", "sendcount", "sendtype", member)},
		"Scatter":    {source("sendbuf", "sendcount", "sendtype", root), sink("recvbuf", "recvcount", "recvtype", member)},
		"Scatterv":   {sink("recvbuf", "recvcount", "recvtype", member)},
		"Allgather":  {gathered, spread},
		"Allgatherv": {gathered},
		"Alltoall":   {gathered, spread},
		"Reduce":     {source("sendbuf", "count", "datatype", member), sink("recvbuf", "count", "datatype", root)},
		"Allreduce":  all,
		"Scan":       all,
		"Exscan":     all[:1], // the first member receives nothing
		"Reduce_scatter_block": {source("sendbuf", "recvcount", "datatype", ""),
			sink("recvbuf", "recvcount", "datatype", "")},
		"Reduce_local": {source("inbuf", "count", "datatype", ""), sink("inoutbuf", "count", "datatype", "")},

		"Pack":            {source("inbuf", "incount", "datatype", "")},
		"Pack_external":   {source("inbuf", "incount", "datatype", "")},
		"Unpack":          {sink("outbuf", "outcount", "datatype", "")},
		"Unpack_external": {sink("outbuf", "outcount", "datatype", "")},

		"Put": put, "Accumulate": put,
		"Get": {sink("origin_addr", "origin_count", "origin_datatype", toTarget)},
		"Get_accumulate": {source("origin_addr", "origin_count", "origin_datatype", operand),
			sink("result_addr", "result_count", "result_datatype", toTarget)},
		"Fetch_and_op": {source("origin_addr", "1", "datatype", operand), sink("result_addr", "1", "datatype", toTarget)},
		"Compare_and_swap": {source("origin_addr", "1", "datatype", toTarget), source("compare_addr", "1", "datatype", toTarget),
			sink("result_addr", "1", "datatype", toTarget)},

		"Win_create":             {memory("base", "size")},
		"Win_attach":             {memory("base", "size")},
		"Win_change_comm_memory": {memory("base", "size")},
		"Memhandle_create":       {memory("base", "size")},
	}
}()

var withRequest = regexp.MustCompile(`^(I|Rr?)([a-z].*)$`)

// buffersOf returns the buffers that C probes for a procedure, which is the form with small counts.
func buffersOf(p *abi.Procedure) []buffer {
	if p.Call == "" {
		return nil
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(p.Name, "MPIX_"), "MPI_"), "_notify")
	if list, ok := accessed[name]; ok {
		return list
	}
	if m := withRequest.FindStringSubmatch(name); m != nil {
		return accessed[strings.ToUpper(m[2][:1])+m[2][1:]]
	}
	return nil
}

// tries returns the C code that probes the buffers of q, whose form with small counts is p. words
// are the arguments as C expressions.
func tries(p, q *abi.Procedure, large int, words []string) string {
	var b strings.Builder
	list := buffersOf(p)
	if len(list) > 0 {
		b.WriteString("\tconst void *wild;\n")
	}
	for _, x := range list {
		condition := fmt.Sprintf("HALO_UNLIKELY((wild = %s) != NULL)", x.wild)
		store := 0
		if x.sink {
			store = 1
		}
		if x.when != "" {
			condition = x.when + " && " + condition
		}
		for i, param := range q.Params {
			if param.Name == x.name {
				fmt.Fprintf(&b, "\tif (%s) {\n\t\tword words[] = {%s};\n\t\treturn halo_wild(%d, %d, words, %d, %q, wild, %d);\n\t}\n",
					condition, strings.Join(words, ", "), p.Number, large, i, x.name, store)
			}
		}
	}
	return b.String()
}
