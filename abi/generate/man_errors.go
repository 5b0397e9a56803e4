package main

import (
	"slices"
	"strings"

	"github.com/halo-mpi/halo/abi"
)

// kindErrors maps the type of a parameter in C to the error class of an invalid value.
var kindErrors = map[string]string{
	"MPI_Comm": "MPI_ERR_COMM", "MPI_Win": "MPI_ERR_WIN", "MPI_Group": "MPI_ERR_GROUP", "MPI_Info": "MPI_ERR_INFO",
	"MPI_Datatype": "MPI_ERR_TYPE", "MPI_Op": "MPI_ERR_OP", "MPI_Request": "MPI_ERR_REQUEST", "MPI_Message": "MPI_ERR_REQUEST",
	"MPI_Errhandler": "MPI_ERR_ERRHANDLER", "MPI_Session": "MPI_ERR_SESSION", "MPI_File": "MPI_ERR_FILE", "MPIX_Sync": "MPI_ERR_ARG",
}

// nameErrors maps the name of a parameter to the error class of an invalid value.
var nameErrors = map[string]string{
	"count": "MPI_ERR_COUNT", "incount": "MPI_ERR_COUNT", "outcount": "MPI_ERR_COUNT", "sendcount": "MPI_ERR_COUNT",
	"recvcount": "MPI_ERR_COUNT", "sendcounts": "MPI_ERR_COUNT", "recvcounts": "MPI_ERR_COUNT", "origin_count": "MPI_ERR_COUNT",
	"target_count": "MPI_ERR_COUNT", "result_count": "MPI_ERR_COUNT", "max_count": "MPI_ERR_COUNT", "n_sync": "MPI_ERR_COUNT",
	"buf": "MPI_ERR_BUFFER", "sendbuf": "MPI_ERR_BUFFER", "recvbuf": "MPI_ERR_BUFFER", "buffer": "MPI_ERR_BUFFER",
	"origin_addr": "MPI_ERR_BUFFER", "result_addr": "MPI_ERR_BUFFER", "compare_addr": "MPI_ERR_BUFFER",
	"dest": "MPI_ERR_RANK", "source": "MPI_ERR_RANK", "target_rank": "MPI_ERR_RANK", "ranks": "MPI_ERR_RANK", "ranges": "MPI_ERR_RANK",
	"ranks1": "MPI_ERR_RANK", "peer_rank": "MPI_ERR_RANK", "target": "MPI_ERR_RANK", "rank": "MPI_ERR_RANK",
	"root": "MPI_ERR_ROOT", "tag": "MPI_ERR_TAG", "sendtag": "MPI_ERR_TAG", "recvtag": "MPI_ERR_TAG",
	"assert": "MPI_ERR_ASSERT", "lock_type": "MPI_ERR_LOCKTYPE", "disp_unit": "MPI_ERR_DISP", "target_disp": "MPI_ERR_RMA_RANGE",
	"comm_keyval": "MPI_ERR_KEYVAL", "type_keyval": "MPI_ERR_KEYVAL", "win_keyval": "MPI_ERR_KEYVAL", "keyval": "MPI_ERR_KEYVAL",
	"dims": "MPI_ERR_DIMS",
}

// procedureErrors are the further error classes of some procedures, by a part of their names.
var procedureErrors = []struct{ part, class string }{
	{"Recv", "MPI_ERR_TRUNCATE"}, {"recv", "MPI_ERR_TRUNCATE"}, {"Waitall", "MPI_ERR_IN_STATUS"}, {"Waitsome", "MPI_ERR_IN_STATUS"},
	{"Testall", "MPI_ERR_IN_STATUS"}, {"Testsome", "MPI_ERR_IN_STATUS"}, {"Win_attach", "MPI_ERR_RMA_ATTACH"}, {"Win_detach", "MPI_ERR_RMA_ATTACH"},
	{"Win_shared_query", "MPI_ERR_RMA_FLAVOR"}, {"Win_allocate_shared", "MPI_ERR_RMA_SHARED"}, {"Alloc_mem", "MPI_ERR_NO_MEM"}, {"Win_allocate", "MPI_ERR_NO_MEM"},
	{"Free_mem", "MPI_ERR_BASE"}, {"Info_delete", "MPI_ERR_INFO_NOKEY"}, {"Info_set", "MPI_ERR_INFO_VALUE"}, {"Bsend", "MPI_ERR_BUFFER"},
	{"Comm_spawn", "MPI_ERR_SPAWN"}, {"Open_port", "MPI_ERR_PORT"}, {"Close_port", "MPI_ERR_PORT"}, {"Comm_accept", "MPI_ERR_PORT"},
	{"Comm_connect", "MPI_ERR_PORT"}, {"ublish_name", "MPI_ERR_SERVICE"}, {"Lookup_name", "MPI_ERR_NAME"},
	{"external", "MPI_ERR_UNSUPPORTED_DATAREP"}, {"emhandle", "MPI_ERR_RMA_FLAVOR"},
}

// errors returns the text about the error classes of a call.
func (m *manual) errors(p *abi.Procedure) string {
	switch {
	case !m.has(p):
		return "MPI_ERR_UNSUPPORTED_OPERATION, for any arguments."
	case inC[p.Name] != "":
		return "There are none."
	case strings.HasPrefix(p.Name, "MPI_T_"):
		return toolErrors(p)
	case p.Returns != "int":
		return "There are none: the handle is invalid if no object has that integer."
	}
	var classes []string
	add := func(class string) {
		if class != "" && !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	for _, x := range p.Params {
		i := slices.IndexFunc(m.meanings, func(r abi.Meaning) bool { return r.Of(p.Name, x) })
		flow := "IN"
		if i >= 0 {
			flow = m.meanings[i].Flow(x)
		}
		switch {
		case x.Name == "info" && flow == "IN" && x.Stars == 0, flow != "OUT" && x.Handle():
			add(kindErrors[x.Base])
		case flow == "OUT" && x.Base != "void" && x.Base != "MPI_Status", x.Function():
			add("MPI_ERR_ARG") // its address must be valid
		default:
			add(nameErrors[x.Name])
		}
	}
	for _, of := range procedureErrors {
		if strings.Contains(p.Name, of.part) {
			add(of.class)
		}
	}
	if slices.Contains(classes, "MPI_ERR_WIN") && m.synchronises(p) {
		add("MPI_ERR_RMA_SYNC")
	}
	if len(classes) == 0 {
		if always(p.Name) {
			return "There are none."
		}
		return "Before MPI_Init and after MPI_Finalize: MPI_ERR_OTHER."
	}
	text := "Errors in the arguments, or during the call: " + strings.Join(classes, ", ") + ", through the error handler of " + hearer(p) + "."
	switch {
	case !always(p.Name):
		text += " Before MPI_Init and after MPI_Finalize: MPI_ERR_OTHER."
	default:
		text += " It may also be called before MPI_Init and after MPI_Finalize."
	}
	return text
}

// synchronises reports whether the call is allowed only in some epochs of the window.
func (m *manual) synchronises(p *abi.Procedure) bool {
	switch section := m.purposes[p.Name].Section; section {
	case "12.3.1", "12.3.2", "12.3.4", "12.3.5", "12.5.1", "12.5.2", "12.5.3", "12.5.4", "12.2.5":
		return true
	case abi.ExtensionPart:
		return !strings.Contains(p.Name, "sync_ob") && !strings.Contains(p.Name, "Memhandle") && !strings.Contains(p.Name, "Win_dup")
	}
	return false
}

// hearer returns the object whose error handler is called.
func hearer(p *abi.Procedure) string {
	for _, x := range p.Params {
		switch x.Base {
		case "MPI_Win":
			if x.Stars == 0 {
				return "the window, or of MPI_COMM_SELF if that is none"
			}
		case "MPI_File":
			return "the file, or of MPI_FILE_NULL if that is none"
		case "MPI_Comm":
			if x.Stars == 0 {
				return "the communicator, or of MPI_COMM_SELF if that is none"
			}
		}
	}
	return "MPI_COMM_SELF, or of the communicator or window that the object belongs to"
}

// toolErrors returns the text about the error codes of chapter 15, which call no error handler.
func toolErrors(p *abi.Procedure) string {
	codes := []string{"MPI_T_ERR_NOT_INITIALIZED"}
	if p.Name == "MPI_T_init_thread" {
		codes = []string{"MPI_T_ERR_INVALID"}
	}
	for _, x := range p.Params {
		class := ""
		switch {
		case strings.HasSuffix(x.Name, "_index") && x.Stars == 0:
			class = "MPI_T_ERR_INVALID_INDEX"
		case x.Name == "name" && x.Const:
			class = "MPI_T_ERR_INVALID_NAME"
		case x.Base == "MPI_T_pvar_session":
			class = "MPI_T_ERR_INVALID_SESSION"
		case strings.HasSuffix(x.Base, "_handle") || strings.HasPrefix(x.Base, "MPI_T_event_") || x.Base == "MPI_T_enum" && x.Stars == 0:
			class = "MPI_T_ERR_INVALID_HANDLE"
		}
		if class != "" && !x.Function() && !slices.Contains(codes, class) {
			codes = append(codes, class)
		}
	}
	return "The call returns " + strings.Join(codes, ", ") + "; no error handler hears of it."
}
