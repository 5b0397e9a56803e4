package fortran

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// variant is one C function of a procedure: the linker's names that share it have the same
// arguments.
type variant struct {
	names    []string // without prefix and underscore: "mpi_send_f08ts"
	large    bool
	sections bool // choice arguments are descriptors
	plain    bool // of memory without gaps
	module   bool // the caller is mpi_f08, which gets detached addresses
}

// variants returns the functions of a procedure.
func (p *Procedure) variants() []variant {
	name := strings.ToLower(p.Name)
	if p.Large {
		return []variant{{names: []string{name + "_f08"}, module: true}}
	}
	list := []variant{{names: []string{name}}}
	switch {
	case p.Choice():
		list = append(list, variant{names: []string{name + "_f08ts"}, sections: true, module: true})
	case slices.ContainsFunc(p.Params, func(x Param) bool { return x.Is("detached") }):
		list = append(list, variant{names: []string{name + "_f08"}, module: true})
	default:
		if slices.ContainsFunc(p.Params, func(x Param) bool { return x.Is("pointer") }) {
			list[0].names = append(list[0].names, name+"_cptr")
		}
		if !p.Deprecated() {
			list[0].names = append(list[0].names, name+"_f08")
		}
	}
	if p.HasLarge() && p.overloads() {
		suffix := "_c_f08"
		if p.Choice() {
			suffix += "ts"
		}
		list = append(list, variant{names: []string{name + suffix}, large: true, sections: p.Choice(), module: true})
	}
	return list
}

// byHand reports whether the C functions of a procedure are not generated: it takes procedures of
// the program, attributes or lists of strings, or C does not have it.
func (p *Procedure) byHand() bool {
	return p.C == nil || slices.ContainsFunc(p.Params, func(x Param) bool {
		return x.Is("function") || x.Is("attribute") || x.Is("state") || x.Is("strings") || x.Is("lists")
	})
}

// glue returns the C file of a procedure, "" if it is written by hand.
func glue(p *Procedure) string {
	if p.byHand() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\n#include \"glue.h\"\n", notice)
	if extension(p.Name) {
		fmt.Fprintf(&b, "\n#pragma weak %s\n", p.Name)
		if p.C.Large != nil {
			fmt.Fprintf(&b, "#pragma weak %s_c\n", p.Name)
		}
	}
	for _, v := range p.variants() {
		w := writer{p: p, v: v}
		b.WriteString(w.function())
	}
	return b.String()
}

// extension reports whether only Halo has a procedure: another library of the ABI lacks the symbol.
func extension(name string) bool { return strings.HasPrefix(name, "MPIX_") }

// writer writes one C function.
type writer struct {
	p             *Procedure
	v             variant
	signature     []string
	hidden        []string // lengths of strings, which follow the other arguments
	arguments     []string // of the call of C
	before, after strings.Builder
	views         []string        // of sections
	handles       string          // communicator, window or file on which an error is raised
	local         map[string]bool // counts and datatypes that a section replaces
}

// function returns the function of C with its other names. If it takes sections, one that has none runs
// through a short function, which calls the other one for all else.
func (w *writer) function() string {
	signature, body := w.body()
	result, main := "void", "p"+w.v.names[0]+"_"
	if w.p.Function() {
		result = w.c().Returns
	}
	var b strings.Builder
	if len(w.views) > 0 {
		short := writer{p: w.p, v: w.v}
		short.v.plain = true
		_, plain := short.body()
		var names, conditions []string
		for _, x := range append(w.signature, w.hidden...) {
			names = append(names, strings.TrimLeft(x[strings.LastIndexAny(x, " *"):], " *"))
		}
		for _, v := range w.views {
			conditions = append(conditions, "halo_plain("+v[2:]+")")
		}
		fmt.Fprintf(&b, "\nstatic __attribute__((noinline, cold)) void sections_%s(%s) {\n%s}\n", main, signature, body)
		body = fmt.Sprintf("\tif (!(%s)) {\n\t\tsections_%s(%s);\n\t\treturn;\n\t}\n%s", strings.Join(conditions, " && "), main, strings.Join(names, ", "), plain)
	}
	fmt.Fprintf(&b, "\n%s %s(%s) {\n%s}\n", result, main, signature, body)
	for i, n := range w.v.names {
		fmt.Fprintf(&b, "HALO_ALIAS(%s_, %s)\n", n, main)
		if i > 0 {
			fmt.Fprintf(&b, "HALO_ALIAS(p%s_, %s)\n", n, main)
		}
	}
	return b.String()
}

// c returns the procedure of C.
func (w *writer) c() *abi.Procedure {
	if w.v.large {
		return w.p.C.Large
	}
	return w.p.C
}

// body returns the parameters of a function, and its statements.
func (w *writer) body() (signature, body string) {
	c := w.c()
	w.locals()
	k := 0
	for _, x := range c.Params {
		if absent(w.p.Name, x) {
			if x.Name != "" {
				w.arguments = append(w.arguments, "0")
			}
			continue
		}
		w.param(k, w.p.Params[k], x)
		k++
	}
	w.endViews()
	var b strings.Builder
	call := fmt.Sprintf("%s(%s)", c.Name, strings.Join(w.arguments, ", "))
	switch {
	case w.p.Function():
		fmt.Fprintf(&b, "\treturn %s;\n", call)
	default:
		w.signature = append(w.signature, "MPI_Fint *ierror")
		if extension(c.Name) {
			fmt.Fprintf(&b, "\tif (!%s) {\n\t\tHALO_RETURN(MPI_ERR_UNSUPPORTED_OPERATION);\n\t}\n", c.Name)
		}
		b.WriteString(w.before.String())
		if len(w.views) > 0 {
			if w.handles == "" {
				w.handles = "HALO_NONE, 0"
			}
			code, argument := "", ""
			for _, v := range w.views[:len(w.views)-1] {
				code += v + ".code ? " + v + ".code : "
				argument += fmt.Sprintf("%s.code ? %q : ", v, v[2:])
			}
			last := w.views[len(w.views)-1]
			code, argument = code+last+".code", argument+strconv.Quote(last[2:])
			fmt.Fprintf(&b, "\tint code = halo_views(%s, %s, %q, %s);\n\tif (code == MPI_SUCCESS)\n\t\tcode = %s;\n", w.handles, code, w.p.Name, argument, call)
		} else {
			fmt.Fprintf(&b, "\tint code = %s;\n", call)
		}
		b.WriteString(w.after.String())
		b.WriteString("\tHALO_RETURN(code);\n")
	}
	all := append(w.signature, w.hidden...)
	if len(all) == 0 {
		all = []string{"void"}
	}
	return strings.Join(all, ", "), b.String()
}

func (w *writer) take(declaration, argument string) {
	w.signature = append(w.signature, declaration)
	w.arguments = append(w.arguments, argument)
}

func (w *writer) first(format string, a ...any) { fmt.Fprintf(&w.before, "\t"+format+"\n", a...) }
func (w *writer) then(format string, a ...any)  { fmt.Fprintf(&w.after, "\t"+format+"\n", a...) }

// integerType is the type of C for an integer of Fortran.
func integerType(base string) string {
	if base == "int" {
		return "MPI_Fint"
	}
	return base
}

// param writes the conversion of a parameter: what is before the call, the argument, and what is
// after it.
func (w *writer) param(k int, x Param, c abi.Param) {
	name, array := x.Name, x.Length != "" && !x.Is("string")
	if (c.Base == "MPI_Comm" || c.Base == "MPI_Win" || c.Base == "MPI_File") && c.Stars == 0 && w.handles == "" {
		w.handles = fmt.Sprintf("HALO_%s, *%s", strings.ToUpper(c.Base[4:]), name)
	}
	switch {
	case w.local[name]:
		w.take(integerType(map[bool]string{true: "int", false: c.Base}[isHandle(c.Base)])+" *"+name, "c_"+name)
	case x.Is("choice"):
		w.choice(k, x, c)
	case x.Is("string"):
		w.text(k, x)
	case x.Is("pointer"):
		w.take("void **"+name, name)
	case x.Is("detached") && w.v.module:
		w.take("void **"+name, name)
	case x.Is("detached"): // the variable of the program is no pointer, and stays as it is
		w.first("void *c_%s;\n\t(void)%s;", name, name)
		w.take("void *"+name, "&c_"+name)
	case c.Base == "MPI_Status" && array:
		w.take("MPI_Fint *"+name, "halo_statuses("+name+")")
	case c.Base == "MPI_Status":
		w.take("MPI_Fint *"+name, "halo_status("+name+")")
	case c.Base == syncHandle && (array || c.Stars > 0):
		w.take("MPI_Aint *"+name, "("+syncHandle+" *)"+name)
	case c.Base == syncHandle:
		w.take("MPI_Aint *"+name, "("+syncHandle+")*"+name)
	case isHandle(c.Base) && array:
		w.handleArray(x, c)
	case isHandle(c.Base) && c.Stars == 0:
		w.take("MPI_Fint *"+name, fmt.Sprintf("in_%s(*%s)", c.Base, name))
	case isHandle(c.Base):
		value := strings.ToUpper(c.Base) + "_NULL"
		if x.Direction != "out" {
			value = fmt.Sprintf("in_%s(*%s)", c.Base, name)
		}
		w.first("%s c_%s = %s;", c.Base, name, value)
		w.take("MPI_Fint *"+name, "&c_"+name)
		if x.Direction != "in" {
			w.then("*%s = out_%s(c_%s);", name, c.Base, name)
		}
	case x.Is("index"):
		w.index(k, x, array)
	case array && strings.HasSuffix(name, "weights"):
		w.take("MPI_Fint *"+name, "halo_weights("+name+")")
	case x.Is("logical") && !array && c.Stars > 0 && c.Base == "int":
		w.take("MPI_Fint *"+name, name)
		w.then("*%s = *%s != 0;", name, name)
	case x.Is("logical") && c.Base == "void":
		w.take("MPI_Fint *"+name, name)
	case array || c.Stars > 0 && !w.measures(k):
		w.take(integerType(c.Base)+" *"+name, w.shape(x, name))
	case c.Stars > 0:
		// The length of a string, which counts the final byte in C only.
		w.first("int some_%s = *%s > 0, c_%s = some_%s ? *%s + 1 : 0;", name, name, name, name, name)
		w.take("MPI_Fint *"+name, "&c_"+name)
		w.then("*%s = c_%s > 0 ? c_%s - 1 : 0;", name, name, name)
	default:
		w.take(integerType(c.Base)+" *"+name, "*"+name)
	}
}

// shape returns the argument for an array, which has two dimensions if it holds ranges.
func (w *writer) shape(x Param, name string) string {
	if strings.HasPrefix(x.Length, "3,") {
		return "(int (*)[3])" + name
	}
	return name
}

// measures reports whether parameter k is the length of the string that follows it.
func (w *writer) measures(k int) bool {
	return w.p.Params[k].Direction == "inout" && k+1 < len(w.p.Params) && w.p.Params[k+1].Is("string")
}

// text writes the conversion of a string.
func (w *writer) text(k int, x Param) {
	name := x.Name
	w.hidden = append(w.hidden, "size_t n_"+name)
	if x.Direction == "in" {
		strip := "halo_string"
		if strings.HasPrefix(w.p.Name, "MPI_Info_") {
			strip = "halo_stripped" // blanks at both ends do not count
		}
		w.first("char s_%s[HALO_STRING], *c_%s = %s(s_%s, %s, n_%s);", name, name, strip, name, name, name)
		w.take("char *"+name, "c_"+name)
		w.then("halo_string_end(s_%s, c_%s);", name, name)
		return
	}
	size := x.Length
	switch {
	case size == "":
		size = "c_" + w.p.Params[k-1].Name
	case !strings.HasPrefix(size, "MPI_"):
		size = "halo_count(*" + size + ") + 1"
	}
	w.first("char s_%s[HALO_STRING], *c_%s = halo_room(s_%s, %s);", name, name, name, size)
	w.take("char *"+name, "c_"+name)
	condition := "code == MPI_SUCCESS"
	if x.Length == "" {
		condition += fmt.Sprintf(" && some_%s", w.p.Params[k-1].Name)
	}
	if slices.ContainsFunc(w.p.Params, func(x Param) bool { return x.Name == "flag" }) {
		condition += " && *flag"
	}
	w.after.WriteString(fmt.Sprintf("\tif (%s)\n\t\thalo_pad(%s, n_%s, c_%s);\n\thalo_string_end(s_%s, c_%s);\n", condition, name, name, name, name, name))
}

// index writes the conversion of an index or an array of them.
func (w *writer) index(k int, x Param, array bool) {
	name := x.Name
	if !array {
		w.first("int c_%s = MPI_UNDEFINED;", name)
		w.take("MPI_Fint *"+name, "&c_"+name)
		w.then("*%s = c_%s == MPI_UNDEFINED ? MPI_UNDEFINED : c_%s + 1;", name, name, name)
		return
	}
	count := w.p.Params[k-1].Name
	w.first("*%s = MPI_UNDEFINED;", count)
	w.take("MPI_Fint *"+name, name)
	w.then("for (int k = 0; k < *%s; k++)\n\t\t%s[k]++;", count, name)
}

// handleArray writes the conversion of an array of handles.
func (w *writer) handleArray(x Param, c abi.Param) {
	name := x.Name
	n := "*" + x.Length
	if x.Length == "*" {
		way := map[bool]string{true: "HALO_TO", false: "HALO_FROM"}[strings.HasPrefix(name, "send")]
		n = fmt.Sprintf("halo_peers(*comm, %s)", way)
		if strings.Contains(strings.ToLower(w.p.Name), "neighbor") {
			n = fmt.Sprintf("halo_neighbors(*comm, %s)", way)
		} else if way == "HALO_TO" {
			n = "c_sendbuf == MPI_IN_PLACE ? 0 : " + n // the types are not significant
		}
	}
	if w.request() != "" {
		n += ", halo_can_wait()"
	} else {
		n += ", 1"
	}
	w.first("HALO_ARRAY(%s, c_%s, %s);", c.Base, name, n)
	if x.Direction == "out" {
		w.first("for (size_t k = 0; k < n_c_%s; k++)\n\t\tc_%s[k] = HALO_UNSET(%s);", name, name, c.Base)
	} else {
		w.first("for (size_t k = 0; k < n_c_%s; k++)\n\t\tc_%s[k] = in_%s(%s[k]);", name, name, c.Base, name)
	}
	w.take("MPI_Fint *"+name, "c_"+name)
	switch x.Direction {
	case "out": // what the call has not stored keeps its value
		w.then("for (size_t k = 0; k < n_c_%s; k++)\n\t\tif (c_%s[k] != HALO_UNSET(%s))\n\t\t\t%s[k] = out_%s(c_%s[k]);", name, name, c.Base, name, c.Base, name)
	case "inout":
		w.then("for (size_t k = 0; k < n_c_%s; k++)\n\t\t%s[k] = out_%s(c_%s[k]);", name, name, c.Base, name)
	}
	if w.request() != "" {
		w.then("HALO_ARRAY_LATER(c_%s);", name)
	} else {
		w.then("HALO_ARRAY_END(c_%s);", name)
	}
}
