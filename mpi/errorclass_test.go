package mpi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/mpi"
)

// Every class of the standard has the value of the ABI, a name and a text.
func TestERR15_ClassesOfTheStandard(t *testing.T) {
	seen := map[string]bool{}
	for c := mpi.ErrBuffer; c <= mpi.ErrABI; c++ {
		name, text := c.String(), mpi.ErrorString(c)
		if !strings.HasPrefix(name, "MPI_ERR_") || seen[name] || !strings.HasPrefix(text, name+": ") || len(text) > mpi.MaxErrorString {
			t.Errorf("class %d is %q: %q", int(c), name, text)
		}
		seen[name] = true
		if mpi.ErrorClass(c) != c || !errors.Is(c, c) || errors.Is(c, c+1) {
			t.Errorf("class %v is of class %v", c, mpi.ErrorClass(c))
		}
	}
	for c, want := range map[mpi.Class]int{
		mpi.Success: 0, mpi.ErrTruncate: 15, mpi.ErrInStatus: 19, mpi.ErrBase: 24, mpi.ErrDupDatarep: 27, mpi.ErrKeyval: 36,
		mpi.ErrNoMem: 39, mpi.ErrRMASync: 50, mpi.ErrSpawn: 53, mpi.ErrProcAborted: 58, mpi.ErrValueTooLarge: 59,
		mpi.ErrSession: 60, mpi.ErrErrhandler: 61, mpi.ErrABI: 62, mpi.ErrLastCode: 16383,
	} {
		if int(c) != want {
			t.Errorf("%v is %d, want %d", c, int(c), want)
		}
	}
	if s := mpi.ErrorString(mpi.ErrProcFailed); s != "MPI_ERR_PROC_FAILED: a process has failed" {
		t.Errorf("ErrProcFailed is %q", s)
	}
	if s := mpi.ErrorString(-1); s != "" || mpi.Class(-1).String() != "MPI_ERR(-1)" {
		t.Errorf("class -1 is %q", s)
	}
	if mpi.Class(class.LastPredefined) != mpi.ErrWinCounter {
		t.Error("added classes do not follow the last predefined one")
	}
}

// Classes and codes of the program exist before Init, and independently of communicators.
func TestXERR01_AddedClasses(t *testing.T) {
	first := mpi.LastUsedCode()
	a, b := mpi.AddErrorClass(), mpi.AddErrorClass()
	if a <= first || a <= mpi.ErrLastCode || b <= a || mpi.LastUsedCode() != b {
		t.Fatalf("classes %d and %d, last used %d, was %d", a, b, mpi.LastUsedCode(), first)
	}
	in, err := mpi.AddErrorCode(a)
	ok(t, err)
	std, err := mpi.AddErrorCode(mpi.ErrIO)
	ok(t, err)
	for code, cl := range map[mpi.Class]mpi.Class{in: a, std: mpi.ErrIO, a: a} {
		if mpi.ErrorClass(code) != cl || !errors.Is(code, cl) || errors.Is(code, b) || mpi.ErrorString(code) != "" {
			t.Errorf("code %d is of class %v (%q), want %v", int(code), mpi.ErrorClass(code), mpi.ErrorString(code), cl)
		}
	}
	ok(t, mpi.AddErrorString(a, "weather"))
	ok(t, mpi.AddErrorString(in, "rain"))
	ok(t, mpi.AddErrorString(in, "snow"))
	if in.Error() != "snow" || mpi.ErrorString(a) != "weather" {
		t.Errorf("texts are %q and %q", in.Error(), mpi.ErrorString(a))
	}
	long := strings.Repeat("x", mpi.MaxErrorString)
	ok(t, mpi.AddErrorString(b, long))
	for _, err := range []error{
		mpi.AddErrorString(b, long+"x"), mpi.AddErrorString(mpi.ErrTag, "mine"), mpi.AddErrorString(b+100, "x"),
		second(mpi.AddErrorCode(b + 100)), second(mpi.AddErrorCode(in)), second(mpi.AddErrorCode(mpi.ErrLastCode)),
		mpi.RemoveErrorClass(mpi.ErrTag), mpi.RemoveErrorCode(a), mpi.RemoveErrorClass(in),
		mpi.RemoveErrorCode(in), // has a text
		mpi.RemoveErrorString(std),
	} {
		wantClass(t, err, mpi.ErrArg)
	}
	ok(t, mpi.RemoveErrorString(a))
	wantClass(t, mpi.RemoveErrorClass(a), mpi.ErrArg) // has a code
	ok(t, mpi.RemoveErrorString(in))
	ok(t, mpi.RemoveErrorCode(in))
	ok(t, mpi.RemoveErrorClass(a))
	ok(t, mpi.AddErrorString(b, ""))
	ok(t, mpi.RemoveErrorClass(b))
	ok(t, mpi.RemoveErrorCode(std))
	wantClass(t, mpi.RemoveErrorClass(b), mpi.ErrArg)
	if c := mpi.AddErrorClass(); c <= std {
		t.Errorf("class %d after %d: a value was given twice", c, std)
	} else {
		ok(t, mpi.RemoveErrorClass(c))
	}
}
