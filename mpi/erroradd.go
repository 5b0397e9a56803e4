package mpi

import (
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
)

// addedErrors are the error classes and codes that the program has added, with their texts. They
// belong to the process and exist before Init and after Finalize, too. A value is never used
// again, so that the value of a removed class or code cannot get the text of a new one.
type addedErrors struct {
	mu    sync.Mutex
	last  Class
	codes map[Class]*addedError
}

// addedError is an added code, or an added class; a class has itself as class.
type addedError struct {
	class Class
	text  string
	codes int // of a class: number of its codes
}

var added = addedErrors{last: Class(class.LastPredefined)}

func (a *addedErrors) text(c Class) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e := a.codes[c]; e != nil {
		return e.text
	}
	return ""
}

// add adds a new code of a class, or a new class. The mutex is held.
func (a *addedErrors) add(cl Class, isClass bool) Class {
	a.last++
	if isClass {
		cl = a.last
	}
	if a.codes == nil {
		a.codes = map[Class]*addedError{}
	}
	a.codes[a.last] = &addedError{class: cl}
	return a.last
}

// classOf is the class of a code, and of a class the class itself.
func classOf(c Class) Class {
	if c <= Class(class.LastPredefined) {
		return c
	}
	added.mu.Lock()
	defer added.mu.Unlock()
	if e := added.codes[c]; e != nil {
		return e.class
	}
	return c
}

// LastUsedCode is the highest value that an error class or code has or had.
//
// C: attribute MPI_LASTUSEDCODE, section 9.5.
func LastUsedCode() Class {
	added.mu.Lock()
	defer added.mu.Unlock()
	return added.last
}

// AddErrorClass makes a new error class in this process.
//
// C: MPI_Add_error_class, section 9.5.
func AddErrorClass() Class {
	added.mu.Lock()
	defer added.mu.Unlock()
	return added.add(0, true)
}

// AddErrorCode makes a new error code in class cl, which may be a class of the standard. After
// that errors.Is(code, cl) is true. ErrArg if there is no such class.
//
// C: MPI_Add_error_code, section 9.5.
func AddErrorCode(cl Class) (Class, error) {
	added.mu.Lock()
	e := added.codes[cl]
	if !predefined(cl) && (e == nil || e.class != cl) {
		added.mu.Unlock()
		return 0, fail(ErrArg, call.AddErrorCode, nil, "%d is not an error class", int(cl))
	}
	defer added.mu.Unlock()
	if e != nil {
		e.codes++
	}
	return added.add(cl, false), nil
}

// AddErrorString sets the text of an added class or code, of at most MaxErrorString bytes. The
// empty text removes it. ErrArg for a class or code that was not added.
//
// C: MPI_Add_error_string, section 9.5.
func AddErrorString(c Class, text string) error {
	if len(text) > MaxErrorString {
		return fail(ErrArg, call.AddErrorString, nil, "text of %d bytes, the limit is %d", len(text), MaxErrorString)
	}
	return changeAdded(call.AddErrorString, c, func(e *addedError) string {
		e.text = text
		return ""
	})
}

// RemoveErrorClass removes an added class. ErrArg if it still has codes or a text.
//
// C: MPI_Remove_error_class, section 9.5.
func RemoveErrorClass(cl Class) error {
	return changeAdded(call.RemoveErrorClass, cl, func(e *addedError) string {
		switch {
		case e.class != cl:
			return "is a code, not a class"
		case e.codes > 0:
			return "still has codes"
		case e.text != "":
			return "still has a text"
		}
		delete(added.codes, cl)
		return ""
	})
}

// RemoveErrorCode removes an added code. ErrArg if it still has a text.
//
// C: MPI_Remove_error_code, section 9.5.
func RemoveErrorCode(code Class) error {
	return changeAdded(call.RemoveErrorCode, code, func(e *addedError) string {
		switch {
		case e.class == code:
			return "is a class, not a code"
		case e.text != "":
			return "still has a text"
		}
		if of := added.codes[e.class]; of != nil {
			of.codes--
		}
		delete(added.codes, code)
		return ""
	})
}

// RemoveErrorString removes the text of an added class or code. ErrArg if it has none.
//
// C: MPI_Remove_error_string, section 9.5.
func RemoveErrorString(c Class) error {
	return changeAdded(call.RemoveErrorString, c, func(e *addedError) string {
		if e.text == "" {
			return "has no text"
		}
		e.text = ""
		return ""
	})
}

// changeAdded calls change for the class or code c, under the mutex. change returns the reason
// if the change is not possible, else the empty string.
func changeAdded(by call.Number, c Class, change func(*addedError) string) error {
	added.mu.Lock()
	why := "was not added, or has been removed"
	if e := added.codes[c]; e != nil {
		why = change(e)
	}
	added.mu.Unlock()
	if why != "" {
		return fail(ErrArg, by, nil, "error class or code %d %s", int(c), why)
	}
	return nil
}

// predefined reports whether a class exists from the start.
func predefined(c Class) bool {
	return c >= Success && (c <= ErrABI || c > ErrLastCode && c <= Class(class.LastPredefined))
}
