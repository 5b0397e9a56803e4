package cname

import "strings"

// eachWord returns text with each word that may be a name, together with a package qualifier
// before it, replaced by the result of replace. It keeps quoted parts, which come from the program.
// It does not use package regexp, whose tables would cost each process 60 KiB.
func eachWord(text string, replace func(string) string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := quotedLength(text[i:])
		if n == 0 && letter(text[i]) {
			n = wordLength(text[i:])
			if rest := text[i+n:]; text[i:i+n] == "mpi" && len(rest) > 1 && rest[0] == '.' && letter(rest[1]) {
				n += 1 + wordLength(rest[1:])
			}
			b.WriteString(replace(text[i : i+n]))
		} else {
			n = max(n, wordLength(text[i:]), 1)
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// quotedLength returns the length of the quoted string at the beginning of a text, 0 without one.
func quotedLength(text string) int {
	if text[0] != '"' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return 0
}

// wordLength returns the number of letters, digits and underscores at the beginning of a text.
func wordLength(text string) int {
	i := 0
	for i < len(text) && (letter(text[i]) || '0' <= text[i] && text[i] <= '9' || text[i] == '_') {
		i++
	}
	return i
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// term returns the name in C for a word that is no call, "" if the word is the same in C.
func term(word string) string {
	switch word {
	case "AnySource":
		return "MPI_ANY_SOURCE"
	case "AnyTag":
		return "MPI_ANY_TAG"
	case "ProcNull":
		return "MPI_PROC_NULL"
	case "Root":
		return "MPI_ROOT"
	case "Undefined":
		return "MPI_UNDEFINED"
	case "LockExclusive":
		return "MPI_LOCK_EXCLUSIVE"
	case "LockShared":
		return "MPI_LOCK_SHARED"
	case "Sum":
		return "MPI_SUM"
	case "Prod":
		return "MPI_PROD"
	case "Min":
		return "MPI_MIN"
	case "Max":
		return "MPI_MAX"
	case "Minloc":
		return "MPI_MINLOC"
	case "Maxloc":
		return "MPI_MAXLOC"
	case "Land":
		return "MPI_LAND"
	case "Lor":
		return "MPI_LOR"
	case "Lxor":
		return "MPI_LXOR"
	case "Band":
		return "MPI_BAND"
	case "Bor":
		return "MPI_BOR"
	case "Bxor":
		return "MPI_BXOR"
	case "Replace":
		return "MPI_REPLACE"
	case "NoOp":
		return "MPI_NO_OP"
	case "slice":
		return "buffer"
	case "goroutine":
		return "thread"
	case "goroutines":
		return "threads"
	case "nil":
		return "null"
	}
	return element(word)
}

// element returns the name in C for a word that is an element type of package op, "" if it is none.
// Several types of C and Fortran are one type of the engine; element returns the name that says
// most about the representation. The engine already uses the name MPI_BYTE, since byte is an
// English word.
func element(word string) string {
	switch word {
	case "bool":
		return "MPI_C_BOOL"
	case "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64":
		return "MPI_" + strings.ToUpper(word) + "_T"
	case "float32":
		return "MPI_FLOAT"
	case "float64":
		return "MPI_DOUBLE"
	case "complex64":
		return "MPI_C_COMPLEX"
	case "complex128":
		return "MPI_C_DOUBLE_COMPLEX"
	case "bool16":
		return "MPI_LOGICAL2"
	case "bool32":
		return "MPI_LOGICAL4"
	case "bool64":
		return "MPI_LOGICAL8"
	case "bool128":
		return "MPI_LOGICAL16"
	case "int128":
		return "MPI_INTEGER16"
	case "float16":
		return "MPI_REAL2"
	case "float80":
		return "MPI_LONG_DOUBLE"
	case "float128":
		return "MPI_REAL16"
	case "complex32":
		return "MPI_COMPLEX4"
	case "complex160":
		return "MPI_C_LONG_DOUBLE_COMPLEX"
	case "complex256":
		return "MPI_COMPLEX32"
	}
	return ""
}

// Text returns a text of the engine with the names of C. A name such as Start may stand for a call of
// windows or of other objects: if window is true, the call of windows takes precedence.
func Text(text string, window bool) string {
	order := [...]string{"", "win", "comm", "type", "file"}
	if window {
		order = [...]string{"win", "", "comm", "type", "file"}
	}
	return eachWord(text, func(w string) string {
		name, ofPackage := strings.CutPrefix(w, "mpi.")
		switch {
		case strings.Contains(w, "_"):
			return w
		case term(name) != "":
			return term(name)
		case name[0] < 'A' || name[0] > 'Z':
			return w
		}
		for _, prefix := range order {
			if c := Find(prefix + name); c != "" {
				return c
			}
		}
		if ofPackage {
			return "MPI_" + name
		}
		return w
	})
}
