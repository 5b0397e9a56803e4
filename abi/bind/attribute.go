package bind

import (
	"math"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/mpi"
)

// An attribute in C is an address, in Fortran an integer, under a keyval, which is a number. Each
// keyval stands for a key of package mpi, whose callbacks call those of the program.

// keyval is the object behind a keyval number. It lives until the program has freed the
// keyval and no attribute with it is left: until then the program may still delete the
// attributes by the number.
type keyval struct {
	number              int
	copy, delete, extra uintptr     // the program's callbacks, and their extra_state
	fortran             bool        // the callbacks see attributes as Fortran does
	end                 *destructor // is called when the keyval ends; nil: nothing is
	comm                mpi.Keyval[*mpi.Comm, attribute]
	typ                 mpi.Keyval[mpi.Datatype, attribute]
	win                 mpi.Keyval[*mpi.Window, attribute]
	held                int // number of attributes; keyvals.mu guards held and freed
	freed               bool
}

// keyvals holds the program's keyvals by their numbers.
type keyvals struct {
	mu   sync.Mutex
	last int
	all  map[int]*keyval
}

// firstKeyval is the lowest number of a keyval of the program; predefined attributes have
// lower ones.
const firstKeyval = 1024

// dupFn is MPI_COMM_DUP_FN, MPI_TYPE_DUP_FN and MPI_WIN_DUP_FN. The null copy and delete
// functions are 0.
const dupFn = 1

// add registers a keyval under a free number and returns the number.
func (s *keyvals) add(k *keyval) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[int]*keyval{}
	}
	s.last = max(s.last, firstKeyval-1)
	for {
		s.last++
		if s.last > math.MaxInt32 {
			s.last = firstKeyval
		}
		if s.all[s.last] == nil {
			break
		}
	}
	k.number = s.last
	s.all[k.number] = k
	return k.number
}

// get returns the keyval of a number, or an empty keyval with invalid keys if there is none.
func (s *keyvals) get(number int) *keyval {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.all[number]; k != nil {
		return k
	}
	return &keyval{}
}

// count adds to the number of attributes and records whether the program has freed the
// keyval. It removes the keyval when it is freed and no attribute is left, and reports that.
func (s *keyvals) count(k *keyval, more int, freed bool) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.held += more
	k.freed = k.freed || freed
	if k.freed && k.held == 0 {
		delete(s.all, k.number)
		return true
	}
	return false
}

// count is keyvals.count, and calls the destructor of a keyval that has ended.
func (l *Lib) count(k *keyval, more int, freed bool) {
	if l.keyvals.count(k, more, freed) {
		l.destructors.call(k.end)
	}
}

// keyOf makes the key of package mpi for a keyval. handleOf returns the handle of an object;
// copyCall and deleteCall are the numbers of the callback types.
func keyOf[O mpi.Attributed](l *Lib, k *keyval, handleOf func(O) handle, copyCall, deleteCall int) mpi.Keyval[O, attribute] {
	copied := func(old O, v attribute) (attribute, bool, error) {
		given, keep := v.as(k.fortran), true
		made := given
		if k.copy != dupFn {
			words := []uintptr{handleOf(old), uintptr(k.number), k.extra, given, 0, 0}
			if code := l.hooks.Invoke(copyCall, k.copy, words); code != 0 {
				return attribute{}, false, mpi.Class(code)
			}
			made, keep = words[4], int32(words[5]) != 0
		}
		if !keep {
			return attribute{}, false, nil
		}
		l.count(k, 1, false)
		if planted.IntegerShared && made == given {
			return v, true, nil
		}
		if made == given { // a copy of the attribute, not of its address
			return l.attribute(v.as(v.cell != nil), v.cell != nil), true, nil
		}
		return l.attribute(made, k.fortran), true, nil
	}
	if k.copy == 0 {
		copied = nil
	}
	return mpi.CreateKeyval(copied, func(o O, v attribute) error {
		if k.delete != 0 {
			if code := l.hooks.Invoke(deleteCall, k.delete, []uintptr{handleOf(o), uintptr(k.number), v.as(k.fortran), k.extra}); code != 0 {
				return mpi.Class(code)
			}
		}
		l.attributes.drop(v)
		l.count(k, -1, false)
		return nil
	})
}

// commKeyval, typeKeyval and winKeyval are MPI_Comm_create_keyval and so on.
func (l *Lib) commKeyval(copied, deleted, extra uintptr) int {
	return l.addCommKeyval(&keyval{copy: copied, delete: deleted, extra: extra})
}

func (l *Lib) addCommKeyval(k *keyval) int {
	k.comm = keyOf(l, k, l.commHandle, callComm_copy_attr_function, callComm_delete_attr_function)
	return l.keyvals.add(k)
}

func (l *Lib) typeKeyval(copied, deleted, extra uintptr) int {
	return l.addTypeKeyval(&keyval{copy: copied, delete: deleted, extra: extra})
}

func (l *Lib) addTypeKeyval(k *keyval) int {
	k.typ = keyOf(l, k, l.typeHandle, callType_copy_attr_function, callType_delete_attr_function)
	return l.keyvals.add(k)
}

func (l *Lib) winKeyval(copied, deleted, extra uintptr) int {
	return l.addWinKeyval(&keyval{copy: copied, delete: deleted, extra: extra})
}

func (l *Lib) addWinKeyval(k *keyval) int {
	k.win = keyOf(l, k, l.winHandle, callWin_copy_attr_function, callWin_delete_attr_function)
	return l.keyvals.add(k)
}

// typeHandle returns the handle of a datatype.
func (l *Lib) typeHandle(d mpi.Datatype) handle { return l.types.handleOf(d, typeNull) }

// freeKeyval is MPI_Comm_free_keyval, MPI_Type_free_keyval and MPI_Win_free_keyval; is
// reports whether a keyval is for that kind of object. A freed keyval exists as long as it
// has attributes: freeing it again by a copy of its number only makes the copy invalid.
func (l *Lib) freeKeyval(a args, by call.Number, is func(*keyval) bool) error {
	if err := l.need(by, a, "keyval", 0); err != nil {
		return err
	}
	number := a.numbers(0).get(0)
	k := l.keyvals.get(number)
	if !is(k) {
		return l.fail(mpi.ErrKeyval, by, "%d is no keyval of this kind that can be freed", number)
	}
	l.count(k, 0, true)
	a.setInt(0, 0) // MPI_KEYVAL_INVALID
	return nil
}

func isCommKeyval(k *keyval) bool { return !k.comm.IsInvalid() }
func isTypeKeyval(k *keyval) bool { return !k.typ.IsInvalid() }
func isWinKeyval(k *keyval) bool  { return !k.win.IsInvalid() }

// setAttr sets an attribute. If the key is invalid, as for predefined attributes, package
// mpi raises the error.
func setAttr[O mpi.Attributed](l *Lib, o O, k *keyval, key mpi.Keyval[O, attribute], v attribute) error {
	err := mpi.SetAttr(o, key, v)
	if err != nil {
		l.attributes.drop(v)
		return err
	}
	l.count(k, 1, false)
	return nil
}

// setCommAttr, setTypeAttr and setWinAttr are MPI_Comm_set_attr and so on.
func (l *Lib) setCommAttr(c *mpi.Comm, number int, v attribute) error {
	k := l.keyvals.get(number)
	return setAttr(l, c, k, k.comm, v)
}

func (l *Lib) setTypeAttr(d mpi.Datatype, number int, v attribute) error {
	k := l.keyvals.get(number)
	return setAttr(l, d, k, k.typ, v)
}

func (l *Lib) setWinAttr(w *mpi.Window, number int, v attribute) error {
	k := l.keyvals.get(number)
	return setAttr(l, w, k, k.win, v)
}

// getAttr stores the value of an attribute, as C or Fortran reads it, in argument 2, and in argument
// 3 whether it is set. predefined looks up predefined attributes, which have no key.
func getAttr[O mpi.Attributed](l *Lib, a args, by call.Number, fortran bool, o O, key func(*keyval) mpi.Keyval[O, attribute], predefined func(O, int) (constant, bool)) error {
	if err := l.needs(by, a, result{2, "attribute_val"}, result{3, "flag"}); err != nil {
		return err
	}
	value, found := predefined(o, a.int(1))
	word := value.as(fortran)
	if !found {
		v, set, err := mpi.GetAttr(o, key(l.keyvals.get(a.int(1))))
		if err != nil {
			return err
		}
		found = set
		if set {
			word = v.as(fortran)
		}
	}
	found = found && !value.unset
	if found {
		a.setWord(2, word)
	}
	a.setBool(3, found)
	return nil
}

// getCommAttr, getTypeAttr and getWinAttr are MPI_Comm_get_attr and so on.
func (l *Lib) getCommAttr(a args, by call.Number, fortran bool) error {
	c, err := l.comm(a.word(0), by)
	if err != nil {
		return err
	}
	// In a session only MPI_TAG_UB is available (section 9.1.2): the others describe the world model.
	if number := a.int(1); number > tagUB && number <= universeSize && engine.InSession(c) {
		if err := l.needs(by, a, result{2, "attribute_val"}, result{3, "flag"}); err != nil {
			return err
		}
		a.setBool(3, false)
		return nil
	}
	return getAttr(l, a, by, fortran, c, func(k *keyval) mpi.Keyval[*mpi.Comm, attribute] { return k.comm }, l.commAttribute)
}

func (l *Lib) getTypeAttr(a args, by call.Number, fortran bool) error {
	return getAttr(l, a, by, fortran, l.datatype(a.word(0)), func(k *keyval) mpi.Keyval[mpi.Datatype, attribute] { return k.typ },
		func(mpi.Datatype, int) (constant, bool) { return constant{}, false })
}

func (l *Lib) getWinAttr(a args, by call.Number, fortran bool) error {
	w, err := l.win(a.word(0), by)
	if err != nil {
		return err
	}
	return getAttr(l, a, by, fortran, w, func(k *keyval) mpi.Keyval[*mpi.Window, attribute] { return k.win }, l.winAttribute)
}
