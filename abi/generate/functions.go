package main

import (
	"bytes"
	"fmt"
	"go/format"
	"regexp"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// functions returns the Go file with the implementations of the procedures.
func (t *tables) functions() ([]byte, error) {
	var b, list, texts, calls bytes.Buffer
	length := 0
	for _, p := range t.procedures {
		buffers := addresses(p)
		entry := "by: call." + p.Identifier()
		if buffers != "" {
			entry += fmt.Sprintf(", text: %d, buffers: %d", length, len(buffers))
			fmt.Fprintf(&texts, " +\n\t%q", buffers)
			length += len(buffers)
		}
		if always(p.Name) {
			entry += ", always: true"
		}
		if p.Call != "" {
			text, err := function(p)
			if err != nil {
				return nil, fmt.Errorf("%s: call %q: %w", p.Name, p.Call, err)
			}
			call := "do" + p.Name
			if method := whole.FindStringSubmatch(text); method != nil {
				call = "(*Lib)." + method[1]
			} else {
				b.WriteString(text)
			}
			fmt.Fprintf(&calls, "\t\t%d: %s,\n", p.Number, call)
		}
		entry += hearers(p)
		fmt.Fprintf(&list, "\t%d: {%s},\n", p.Number, entry)
	}
	text := fmt.Sprintf("// %s\n\npackage bind\n\nimport (\n\"github.com/halo-mpi/halo/internal/call\"\n\"github.com/halo-mpi/halo/mpi\"\n)\n\n"+
		"// procedures are the procedures of the table, by number.\nvar procedures = [...]procedure{\n%s}\n\n"+
		"// calls implement the procedures, by number; nil for those that C does alone.\nvar calls [len(procedures)]implementation\n\nfunc init() {\n\tcalls = [...]implementation{\n%s\t}\n}\n\n"+
		"// texts are the names of the addresses of the procedures.\nconst texts = \"\"%s\n%s",
		notice, list.String(), calls.String(), texts.String(), b.String())
	out, err := format.Source([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("procedures.go: %w\n%s", err, text)
	}
	return out, nil
}

// hearers returns the fields of a procedure that say on which object errors of the call are
// raised.
func hearers(p *abi.Procedure) (fields string) {
	for _, of := range [][2]string{{"MPI_Comm", "comm"}, {"MPI_Win", "win"}, {"MPI_File", "file"}, {"MPI_Session", "session"}} {
		for i, x := range p.Params {
			if x.Base == of[0] && x.Stars == 0 {
				fields += fmt.Sprintf(", %s: %d", of[1], 1+i)
				break
			}
		}
	}
	return fields
}

// addresses returns the names of the parameters of a procedure that are addresses of the program's
// memory, with "-" for other parameters.
func addresses(p *abi.Procedure) string {
	var names []string
	for i, x := range p.Params {
		if x.Base == "void" && x.Stars == 1 || x.Stars > 0 && x.Array {
			for len(names) < i {
				names = append(names, "-")
			}
			names = append(names, x.Name)
		}
	}
	if p.Call == "" {
		return ""
	}
	return strings.Join(names, " ")
}

// always reports whether a procedure may be called before Init and after Finalize.
func always(name string) bool {
	for _, prefix := range []string{"MPI_Abi_", "MPI_Session_", "MPI_T_", "MPI_Info_", "MPI_Get_version", "MPI_Get_library_version",
		"MPI_Init", "MPI_Finalized", "MPI_Error_", "MPI_Add_error_", "MPI_Remove_error_", "MPI_Pcontrol"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasSuffix(name, "_fromint") || strings.HasSuffix(strings.TrimSuffix(name, "_x"), "_create_errhandler") || name == "MPI_Errhandler_free"
}

// allArguments matches calls of functions that get all arguments unconverted.
var allArguments = regexp.MustCompile(`\(a[,)]`)

// whole matches a function that only calls a method with all arguments. The method replaces such a
// function: at the call depth of calls from C each further call takes about 12 ns instead of 1.
var whole = regexp.MustCompile(`^\nfunc \w+\(l \*Lib, a args\) error \{\n\treturn l\.(\w+)\(a\)\n\}\n$`)

// handleOf matches arguments of functions that look up a handle themselves.
var handleOf = regexp.MustCompile(`\bhandle\((\w+)\)`)

var identifier = regexp.MustCompile(`\.?\b[a-zA-Z_]\w*\b`)

// function returns the Go function of a procedure.
func function(p *abi.Procedure) (string, error) {
	expression, results, fails := p.Call, "", true
	if left, right, ok := strings.Cut(p.Call, "=>"); ok {
		expression, results, fails = left, right, false
	} else if left, right, ok := strings.Cut(p.Call, "->"); ok {
		expression, results = left, right
	}
	index := map[string]int{}
	for i, x := range p.Params {
		index[x.Name] = i
	}
	f := &writer{p: p, index: index, made: map[string]bool{}}
	expression = handleOf.ReplaceAllStringFunc(strings.TrimSpace(expression), func(s string) string {
		name := handleOf.FindStringSubmatch(s)[1]
		f.made[name] = true
		return fmt.Sprintf("a.word(%d)", index[name])
	})
	expression = identifier.ReplaceAllStringFunc(expression, f.value)
	if !allArguments.MatchString(expression) && !strings.HasPrefix(p.Name, "MPI_T_") {
		f.checkRest()
	}

	var outs []int
	for _, name := range strings.FieldsFunc(results, func(r rune) bool { return r == ',' || r == ' ' }) {
		i, ok := index[name]
		if !ok {
			return "", fmt.Errorf("there is no parameter %q", name)
		}
		outs = append(outs, i)
	}
	var needs, before, after, failed strings.Builder
	var names []string
	for n, i := range outs {
		x := p.Params[i]
		v := fmt.Sprintf("v%d", n)
		names = append(names, v)
		store, optional, err := f.store(i, v)
		if err != nil {
			return "", err
		}
		if !optional {
			need(&needs, p, i)
			if x.Base == "char" && i+1 < len(p.Params) && p.Params[i+1].Name == "resultlen" {
				need(&needs, p, i+1)
			}
		}
		if null := nulls[x.Base]; null != "" {
			fmt.Fprintf(&failed, "\t\ta.setWord(%d, %s)\n", i, null)
		}
		if optional {
			before.WriteString(store) // a status is stored even if the call fails
		} else {
			after.WriteString(store)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nfunc do%s(l *Lib, a args) error {\n%s%s", p.Name, needs.String(), f.prologue.String())
	switch {
	case len(outs) == 0 && fails:
		fmt.Fprintf(&b, "\treturn %s\n}\n", expression)
	case len(outs) == 0:
		fmt.Fprintf(&b, "\t%s\n\treturn nil\n}\n", expression)
	case !fails:
		fmt.Fprintf(&b, "\t%s := %s\n%s%s", strings.Join(names, ", "), expression, before.String(), after.String())
		b.WriteString(f.end())
	default:
		fmt.Fprintf(&b, "\t%s, err := %s\n%s\tif err != nil {\n%s\t\treturn err\n\t}\n%s", strings.Join(names, ", "), expression, before.String(), failed.String(), after.String())
		b.WriteString(f.end())
	}
	return b.String(), nil
}

// need writes the check that output parameter i has a valid address.
func need(b *strings.Builder, p *abi.Procedure, i int) {
	fmt.Fprintf(b, "\tif err := l.need(call.%s, a, %q, %d); err != nil {\n\t\treturn err\n\t}\n", p.Identifier(), p.Params[i].Name, i)
}

// writer writes the function of one procedure.
type writer struct {
	p        *abi.Procedure
	index    map[string]int
	made     map[string]bool
	prologue strings.Builder
	last     string // the expression that the function returns at its end, "" for nil
}

func (f *writer) end() string {
	if f.last != "" {
		return "\treturn " + f.last + "\n}\n"
	}
	return "\treturn nil\n}\n"
}

// lookups maps the type of a handle to the method of Lib that finds its object.
var lookups = map[string]string{"MPI_Comm": "comm", "MPI_Win": "win", "MPI_File": "file", "MPI_Group": "group", "MPI_Info": "info", "MPI_Errhandler": "errhandler", "MPI_Session": "session"}

// checkRest writes lookups of the handles that the call does not use, because invalid handles must
// be errors anyway.
func (f *writer) checkRest() {
	for i, x := range f.p.Params {
		if lookup := lookups[x.Base]; lookup != "" && x.Stars == 0 && !f.made[x.Name] {
			fmt.Fprintf(&f.prologue, "\tif _, err := l.%s(a.word(%d), call.%s); err != nil {\n\t\treturn err\n\t}\n", lookup, i, f.p.Identifier())
		}
	}
}

// value returns the Go expression for an identifier of a call.
func (f *writer) value(name string) string {
	i, ok := f.index[name]
	if !ok {
		return name
	}
	x := f.p.Params[i]
	if lookup := map[string]string{"MPI_Comm": "comm", "MPI_Win": "win", "MPI_File": "file", "MPI_Group": "group", "MPI_Info": "info", "MPI_Errhandler": "errhandler", "MPI_Session": "session", "MPI_Status": "status"}[x.Base]; lookup != "" && (x.Stars == 0 || x.Base == "MPI_Status") {
		if !f.made[name] {
			f.made[name] = true
			fmt.Fprintf(&f.prologue, "\t%s, err := l.%s(a.word(%d), call.%s)\n\tif err != nil {\n\t\treturn err\n\t}\n", name, lookup, i, f.p.Identifier())
		}
		return name
	}
	switch {
	case x.Stars == 0 && (x.Base == "int" || x.Base == "MPI_Count"):
		return fmt.Sprintf("a.int(%d)", i)
	case x.Stars == 0 && (x.Base == "MPI_Aint" || x.Base == "MPI_Offset"):
		return fmt.Sprintf("a.long(%d)", i)
	case x.Stars == 0 && x.Base == "MPI_Datatype":
		return fmt.Sprintf("l.datatype(a.word(%d))", i)
	case x.Stars == 0 && x.Base == "MPI_Op":
		return fmt.Sprintf("l.operation(a, %d)", i)
	case x.Base == "char" && x.Stars == 1 && x.Const:
		return fmt.Sprintf("text(a.word(%d))", i)
	case x.Stars > 0 && x.Base == "int":
		if f.wide(i) {
			return fmt.Sprintf("a.counts(%d)", i)
		}
		return fmt.Sprintf("a.numbers(%d)", i)
	case x.Stars > 0 && (x.Base == "MPI_Aint" || x.Base == "MPI_Count" || x.Base == "MPI_Offset"):
		return fmt.Sprintf("a.longs(%d)", i)
	}
	return fmt.Sprintf("a.word(%d)", i)
}

// wide reports whether parameter i has 64 bits in the large form and is an int in the other.
func (f *writer) wide(i int) bool { return f.p.Large != nil && f.p.Large.Params[i].Base != "int" }

// nulls are the null handles that a call stores as results if it fails.
var nulls = map[string]string{
	"MPI_Comm": "commNull", "MPI_Win": "winNull", "MPI_Group": "groupNull", "MPI_Datatype": "typeNull", "MPI_Info": "infoNull",
	"MPI_Request": "requestNull", "MPI_Op": "opNull", "MPI_Errhandler": "errhandlerNull", "MPI_Message": "messageNull",
	"MPI_File": "fileNull", "MPI_Session": "sessionNull",
}

// texts are the maximum sizes of results that are strings, by the name of the parameter.
var texts = map[string]int{"version": 8192, "name": 256, "string": 512, "comm_name": 128, "type_name": 128, "win_name": 128, "datarep": 128}

// store returns the statement that stores v as result i. The result is optional if the program may
// pass a constant, such as MPI_STATUS_IGNORE, to get none.
func (f *writer) store(i int, v string) (statement string, optional bool, err error) {
	x := f.p.Params[i]
	line := func(format string, a ...any) (string, bool, error) {
		return "\t" + fmt.Sprintf(format, a...) + "\n", x.Base == "MPI_Status", nil
	}
	if x.Base == "char" {
		size, ok := texts[x.Name]
		if !ok {
			return "", false, fmt.Errorf("how long may %s be?", x.Name)
		}
		if i+1 < len(f.p.Params) && f.p.Params[i+1].Name == "resultlen" {
			return line("a.setInt(%d, setText(a.word(%d), %d, %s))", i+1, i, size, v)
		}
		return line("setText(a.word(%d), %d, %s)", i, size, v)
	}
	switch x.Base {
	case "int":
		switch {
		case x.Name == "flag" || x.Name == "commute":
			return line("a.setBool(%d, %s)", i, v)
		case f.wide(i):
			return line("a.setCount(%d, int64(%s))", i, v)
		}
		return line("a.setInt(%d, int(%s))", i, v)
	case "MPI_Aint", "MPI_Offset", "MPI_Count":
		return line("a.setLong(%d, int64(%s))", i, v)
	case "MPI_Status":
		return line("a.setStatus(%d, %s)", i, v)
	case "MPI_Request":
		f.last = fmt.Sprintf("l.setRequest(a, %d, %s)", i, v)
		return "", false, nil
	}
	if add := map[string]string{"MPI_Comm": "addComm", "MPI_Win": "addWin", "MPI_File": "addFile", "MPI_Group": "addGroup", "MPI_Info": "addInfo", "MPI_Datatype": "addType",
		"MPI_Op": "addOp", "MPI_Errhandler": "addErrhandler", "MPI_Message": "addMessage"}[x.Base]; add != "" {
		return line("a.setWord(%d, l.%s(%s))", i, add, v)
	}
	if x.Base == "void" {
		return line("a.setWord(%d, uintptr(%s))", i, v)
	}
	return "", false, fmt.Errorf("nothing is known of results such as %q", x.Text)
}
