package fortran

import (
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// A call of mpi_f08 gets the descriptor of a buffer, which may be a section of an array that is not
// contiguous. How the call accesses such a buffer decides what C gets for it.
const (
	address = "address" // the call needs the address only: the section is as good as its first element
	whole   = "whole"   // the call needs the memory itself: a section is an error
	one     = "one"     // count elements of a datatype: C gets a datatype that describes them in the section
	many    = "many"    // blocks of elements: C gets a datatype whose extent steps through the section
	parts   = "parts"   // partitions: the same, and never a copy
	copied  = "copied"  // C gets a contiguous copy
)

// access returns how a procedure accesses the buffer that is its parameter k.
func (p *Procedure) access(k int) string {
	name, x := strings.ToLower(p.Name), p.Params[k]
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(name, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("get_address", "sync_reg", "win_detach", "free_mem", "fetch_and_op", "compare_and_swap") || strings.HasSuffix(name, "_end"):
		return address
	case has("win_create", "win_attach", "buffer_attach", "attach_buffer", "change_comm", "memhandle"):
		return whole
	case has("accumulate"):
		return one
	case has("reduce", "scan", "alltoallw"):
		return copied
	case has("_psend", "_precv"):
		return parts
	case has("alltoall"), has("gather") && x.Name == "recvbuf", has("scatter") && x.Name == "sendbuf":
		return many
	case k+2 < len(p.Params) && p.Params[k+2].C.Base == "MPI_Datatype" && p.Params[k+1].C.Stars == 0:
		return one
	}
	return copied
}

// rootOnly reports whether a buffer is significant at the root of a collective only.
func (p *Procedure) rootOnly(x Param) bool {
	for _, r := range p.Params {
		if r.Name == "root" {
			return strings.Contains(strings.ToLower(p.Name), "gather") && x.Name == "recvbuf" || strings.Contains(strings.ToLower(p.Name), "scatter") && x.Name == "sendbuf"
		}
	}
	return false
}

// choice writes the conversion of a choice argument.
func (w *writer) choice(k int, x Param, c abi.Param) {
	name := x.Name
	if !w.v.sections {
		w.first("void *c_%s = halo_buffer(%s);", name, name)
		w.take("void *"+name, "c_"+name)
		return
	}
	access := w.p.access(k)
	if access == address || w.v.plain {
		w.first("void *c_%s = halo_base(%s);", name, name)
		w.take("const halo_descriptor *"+name, "c_"+name)
		return
	}
	flow := map[string]string{"in": "HALO_IN", "out": "HALO_OUT", "inout": "HALO_IN | HALO_OUT"}[x.Direction]
	switch {
	case w.request() != "":
		flow += " | HALO_LATER | HALO_REQUEST"
	case x.Is("asynchronous"):
		flow += " | HALO_LATER"
	}
	w.views = append(w.views, "v_"+name)
	w.first("struct halo_view v_%s = {0};", name)
	open := ""
	switch access {
	case whole:
		open = fmt.Sprintf("halo_refuse(&v_%s)", name)
	case copied:
		open = fmt.Sprintf("halo_copy(&v_%s, %s, %s, %s)", name, name, flow, w.p.needed())
	default:
		count, datatype := w.p.described(k)
		switch access {
		case parts:
			open = fmt.Sprintf("halo_parts(&v_%s, %s, &c_%s, &c_%s)", name, name, w.p.Params[k+2].Name, datatype)
		case one:
			open = fmt.Sprintf("halo_one(&v_%s, %s, %s, c_%s, &c_%s)", name, name, flow, count, datatype)
			defer w.first("if (v_%s.mapped)\n\t\tc_%s = 1;", name, count)
		default:
			open = fmt.Sprintf("halo_many(&v_%s, %s, %s, &c_%s)", name, name, flow, datatype)
		}
	}
	plain := fmt.Sprintf("halo_plain(%s)", name)
	if w.p.rootOnly(x) {
		plain += " || !halo_root(*comm, *root)"
	}
	w.first("void *c_%s = %s ? halo_base(%s) : %s;", name, plain, name, open)
	w.take("const halo_descriptor *"+name, "c_"+name)
	if w.request() == "" {
		w.then("if (v_%s.used)\n\t\thalo_view_end(&v_%s);", name, name)
	}
}

// endViews writes what ends the views of a call with a request.
func (w *writer) endViews() {
	if len(w.views) == 0 || w.request() == "" {
		return
	}
	second := "NULL"
	if len(w.views) > 1 {
		second = "&" + w.views[1]
	}
	persistent := 0
	if strings.HasSuffix(w.p.Name, "_init") {
		persistent = 1
	}
	w.then("if (%s.used)\n\t\thalo_view_later(code, c_%s, %d, &%s, %s);", strings.Join(w.views, ".used || "), w.request(), persistent, w.views[0], second)
}

// request returns the name of the request that the call makes, "" if it makes none.
func (w *writer) request() string {
	for _, x := range w.p.Params {
		if x.C.Base == "MPI_Request" && x.Direction == "out" {
			return x.Name
		}
	}
	return ""
}

// described returns the names of the count and of the datatype of the buffer that is parameter k.
func (p *Procedure) described(k int) (count, datatype string) {
	for _, x := range p.Params[k+1:] {
		if x.C.Base == "MPI_Datatype" {
			return p.Params[k+1].Name, x.Name
		}
	}
	return "", ""
}

// needed returns the expression for the number of bytes that a call accesses in the copy of a buffer,
// "0" if no single count and datatype say that.
func (p *Procedure) needed() string {
	count, datatype := "", ""
	for _, x := range p.Params {
		switch {
		case x.C.Base == "MPI_Datatype":
			datatype = x.Name
		case strings.HasSuffix(x.Name, "count"):
			count = x.Name
		}
	}
	name := strings.ToLower(p.Name)
	if !strings.Contains(name, "reduce") && !strings.Contains(name, "scan") || strings.Contains(name, "scatter") || count == "" {
		return "0"
	}
	return fmt.Sprintf("halo_needed(*%s, in_MPI_Datatype(*%s))", count, datatype)
}

// locals declares variables for the counts and datatypes that are replaced if a buffer is a section.
func (w *writer) locals() {
	w.local = map[string]bool{}
	if !w.v.sections || w.v.plain {
		return
	}
	for k, x := range w.p.Params {
		if !x.Is("choice") {
			continue
		}
		access := w.p.access(k)
		if access != one && access != many && access != parts {
			continue
		}
		count, datatype := w.p.described(k)
		if access == parts {
			count = w.p.Params[k+2].Name
		}
		for _, y := range w.p.Params {
			switch {
			case w.local[y.Name]:
			case y.Name == datatype:
				w.first("MPI_Datatype c_%s = in_MPI_Datatype(*%s);", datatype, datatype)
				w.local[datatype] = true
			case y.Name == count && access != many:
				w.first("%s c_%s = *%s;", y.c(w.v.large).Base, count, count)
				w.local[count] = true
			}
		}
	}
}
