package fortran

import (
	"fmt"
	"strings"
)

// callbacks holds the types of procedures that programs pass to MPI: the name, and the dummy
// arguments, each after its type. The types are letters, see callbackTypes.
var callbacks = []struct{ name, arguments string }{
	{"MPI_User_function", "P invec, P inoutvec, I len, MPI_Datatype datatype"},
	{"MPI_User_function_c", "P invec, P inoutvec, C len, MPI_Datatype datatype"},
	{"MPI_Comm_copy_attr_function", "MPI_Comm oldcomm, I comm_keyval, A extra_state, A attribute_val_in, A attribute_val_out, L flag, I ierror"},
	{"MPI_Comm_delete_attr_function", "MPI_Comm comm, I comm_keyval, A attribute_val, A extra_state, I ierror"},
	{"MPI_Type_copy_attr_function", "MPI_Datatype oldtype, I type_keyval, A extra_state, A attribute_val_in, A attribute_val_out, L flag, I ierror"},
	{"MPI_Type_delete_attr_function", "MPI_Datatype datatype, I type_keyval, A attribute_val, A extra_state, I ierror"},
	{"MPI_Win_copy_attr_function", "MPI_Win oldwin, I win_keyval, A extra_state, A attribute_val_in, A attribute_val_out, L flag, I ierror"},
	{"MPI_Win_delete_attr_function", "MPI_Win win, I win_keyval, A attribute_val, A extra_state, I ierror"},
	{"MPI_Comm_errhandler_function", "MPI_Comm comm, I error_code"},
	{"MPI_File_errhandler_function", "MPI_File file, I error_code"},
	{"MPI_Session_errhandler_function", "MPI_Session session, I error_code"},
	{"MPI_Win_errhandler_function", "MPI_Win win, I error_code"},
	{"MPI_Grequest_query_function", "A extra_state, MPI_Status status, I ierror"},
	{"MPI_Grequest_free_function", "A extra_state, I ierror"},
	{"MPI_Grequest_cancel_function", "A extra_state, L complete, I ierror"},
	{"MPI_Datarep_extent_function", "MPI_Datatype datatype, A extent, A extra_state, I ierror"},
	{"MPI_Datarep_conversion_function", "P userbuf, MPI_Datatype datatype, I count, P filebuf, O position, A extra_state, I ierror"},
	{"MPI_Datarep_conversion_function_c", "P userbuf, MPI_Datatype datatype, C count, P filebuf, O position, A extra_state, I ierror"},
}

// callbackTypes holds the types behind the letters.
var callbackTypes = map[string]string{
	"P": "TYPE(C_PTR), VALUE", "I": "INTEGER", "L": "LOGICAL",
	"A": "INTEGER(KIND=MPI_ADDRESS_KIND)", "C": "INTEGER(KIND=MPI_COUNT_KIND)", "O": "INTEGER(KIND=MPI_OFFSET_KIND)",
}

// callback returns the names of the dummy arguments and their declarations. In the module mpi
// handles are integers.
func callback(arguments string, m method, indent string) (names []string, text string) {
	var b strings.Builder
	for _, one := range strings.Split(arguments, ", ") {
		kind, name, _ := strings.Cut(one, " ")
		names = append(names, name)
		t, ok := callbackTypes[kind]
		switch {
		case ok:
		case m == f08:
			t = "TYPE(" + kind + ")"
		default:
			t = "INTEGER"
		}
		fmt.Fprintf(&b, "%s%s :: %s\n", indent, t, name)
	}
	return names, b.String()
}

// callbacksModule returns the module with the abstract interfaces.
func callbacksModule() string {
	var b strings.Builder
	fmt.Fprintf(&b, "! %s\nMODULE mpi_callbacks\n  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR\n  USE mpi_types\n  IMPLICIT NONE\n  PRIVATE :: C_PTR\n\n  ABSTRACT INTERFACE\n", notice)
	for _, c := range callbacks {
		names, text := callback(c.arguments, f08, "      ")
		b.WriteString(wrap("    ", fmt.Sprintf("SUBROUTINE %s(%s)", c.name, strings.Join(names, ", "))))
		b.WriteString("      IMPORT\n      IMPLICIT NONE\n" + text)
		fmt.Fprintf(&b, "    END SUBROUTINE %s\n", c.name)
	}
	return b.String() + "  END INTERFACE\n\nEND MODULE mpi_callbacks\n"
}

// predefinedBody returns the interface body of a predefined function for the module mpi, where it
// is a function of C, or its subroutine in mpi_f08. The C functions of the library recognise both by
// their addresses; calling one has the same effect.
func predefinedBody(name string, m method) string {
	like, arguments := "", ""
	for _, p := range predefined {
		if p.name == name {
			like = p.like
		}
	}
	for _, c := range callbacks {
		if c.name == like {
			arguments = c.arguments
		}
	}
	switch {
	case like == "" && strings.Contains(name, "DELETE"):
		arguments = "I comm, I keyval, I attribute_val, I extra_state, I ierror"
	case like == "":
		arguments = "I oldcomm, I keyval, I extra_state, I attribute_val_in, I attribute_val_out, L flag, I ierror"
	}
	indent := "    "
	if m == f08 {
		indent = "  "
	}
	names, text := callback(arguments, m, indent+"  ")
	var b strings.Builder
	if m == f08 {
		b.WriteString("\n")
	}
	b.WriteString(wrap(indent, fmt.Sprintf("SUBROUTINE %s(%s)", name, strings.Join(names, ", "))))
	if m == mpi {
		b.WriteString(indent + "  IMPORT\n")
	}
	fmt.Fprintf(&b, "%s  IMPLICIT NONE\n%s", indent, text)
	if m == f08 {
		b.WriteString(predefinedStatements(name, names))
	}
	fmt.Fprintf(&b, "%sEND SUBROUTINE %s\n", indent, name)
	return b.String()
}

// predefinedStatements returns what a predefined function does. Its first statement names the
// dummy arguments that are not used otherwise, about which compilers warn.
func predefinedStatements(name string, names []string) string {
	switch {
	case strings.HasSuffix(name, "DELETE_FN"):
		return fmt.Sprintf("    IF (%s%%MPI_VAL == %s .AND. attribute_val == extra_state) CONTINUE\n    ierror = MPI_SUCCESS\n", names[0], names[1])
	case strings.HasPrefix(name, "MPI_CONVERSION"):
		return "    IF (datatype%MPI_VAL == count .AND. position == extra_state .AND. C_ASSOCIATED(userbuf, filebuf)) CONTINUE\n    ierror = MPI_ERR_CONVERSION\n"
	}
	if strings.Contains(name, "NULL") {
		return fmt.Sprintf("    IF (%s%%MPI_VAL == %s .AND. extra_state == attribute_val_in .AND. extra_state == attribute_val_out) CONTINUE\n"+
			"    flag = .FALSE.\n    ierror = MPI_SUCCESS\n", names[0], names[1])
	}
	return fmt.Sprintf("    IF (%s%%MPI_VAL == %s .AND. extra_state == 0) CONTINUE\n    attribute_val_out = attribute_val_in\n    flag = .TRUE.\n    ierror = MPI_SUCCESS\n", names[0], names[1])
}
