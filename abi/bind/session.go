package bind

import (
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// openSession is MPI_Session_init.
func (l *Lib) openSession(a args) error {
	const by = call.SessionInit
	if err := l.need(by, a, "session", 2); err != nil {
		return err
	}
	a.setWord(2, sessionNull)
	info, err := l.info(a.word(0), by)
	if err != nil {
		return err
	}
	h, err := l.errhandler(a.word(1), by)
	if err != nil {
		return err
	}
	l.starting.Lock()
	defer l.starting.Unlock()
	if err := l.prepare(threadLevel(info)); err != nil {
		return err
	}
	engine.FirstErrhandler(mpi.ErrorsAreFatal)
	s, err := mpi.OpenSession(h, sessionHints(info)...)
	if err != nil {
		return err
	}
	if !l.main {
		l.becomeMain()
	}
	l.begin()
	l.process.CompareAndSwap(nil, engine.ProcessComm())
	l.open.Add(1)
	a.setWord(2, l.sessions.put(s))
	return nil
}

// threadLevel is the level of thread support that an info requests: the highest if it has none.
func threadLevel(info *mpi.Info) mpi.ThreadLevel {
	switch level, _ := info.Get("thread_level"); level {
	case "MPI_THREAD_SINGLE":
		return mpi.ThreadSingle
	case "MPI_THREAD_FUNNELED":
		return mpi.ThreadFunneled
	case "MPI_THREAD_SERIALIZED":
		return mpi.ThreadSerialized
	}
	return mpi.ThreadMultiple
}

// sessionHints and commHints are an info as hints, which MPI_INFO_NULL has none of.
func sessionHints(info *mpi.Info) []mpi.SessionHint {
	if info == nil {
		return nil
	}
	return []mpi.SessionHint{info}
}

func commHints(info *mpi.Info) []mpi.CommHint {
	if info == nil {
		return nil
	}
	return []mpi.CommHint{info}
}

// session returns the session of a handle.
func (l *Lib) session(h handle, by call.Number) (*mpi.Session, error) {
	if s, ok := l.sessions.get(h); ok {
		return s, nil
	}
	if h == sessionNull {
		return nil, l.fail(mpi.ErrSession, by, "session is MPI_SESSION_NULL")
	}
	return nil, l.fail(mpi.ErrSession, by, "%#x is no session: it was finalized, or never was one", h)
}

// endSession is MPI_Session_finalize. The handles of what the session leaves remain, and are
// errors in all further calls.
func (l *Lib) endSession(a args) error {
	return free(l, a, call.SessionFinalize, sessionNull, l.session, func(s *mpi.Session) error {
		comms, windows := engine.LiveObjects(s)
		if err := s.Finalize(); err != nil {
			return err
		}
		for _, c := range comms {
			if h := l.comms.handleOf(c, commNull); h != commNull && l.comms.closed != nil {
				l.comms.closed(h, c)
			}
		}
		for _, w := range windows {
			if h := l.wins.handleOf(w, winNull); h != winNull && l.wins.closed != nil {
				l.wins.closed(h, w)
			}
		}
		l.open.Add(-1)
		l.lastOut()
		return nil
	}, l.sessions.drop)
}

// setSessionErrhandler is MPI_Session_set_errhandler.
func (l *Lib) setSessionErrhandler(a args) error {
	s, err := l.session(a.word(0), call.SessionSetErrhandler)
	if err != nil {
		return err
	}
	h, ok := l.errhandlerOf(a.word(1))
	if !ok {
		return s.CallErrhandler(newError(mpi.ErrErrhandler, call.SessionSetErrhandler, noErrhandler, a.word(1)))
	}
	return s.SetErrhandler(h)
}

// attachSession and detachSession are MPI_Session_attach_buffer and MPI_Session_detach_buffer.
func (l *Lib) attachSession(s *mpi.Session, address uintptr, size int) error {
	return l.lend(s, call.SessionAttachBuffer, address, size, s.AttachBuffer)
}

func (l *Lib) detachSession(a args) error {
	s, err := l.session(a.word(0), call.SessionDetachBuffer)
	if err != nil {
		return err
	}
	return l.takeBack(a, 1, call.SessionDetachBuffer, s.DetachBuffer)
}

// numPsets is MPI_Session_get_num_psets.
func (l *Lib) numPsets(s *mpi.Session) (int, error) {
	names, err := s.Psets()
	return len(names), err
}

// nthPset is MPI_Session_get_nth_pset. pset_len is the room for the name on entry, 0 to ask for
// its length alone, and the room needed on return, both with the terminating zero.
func (l *Lib) nthPset(a args) error {
	const by = call.SessionGetNthPset
	s, err := l.session(a.word(0), by)
	if err != nil {
		return err
	}
	if _, err := l.info(a.word(1), by); err != nil {
		return err
	}
	names, err := s.Psets()
	if err != nil {
		return err
	}
	bad := func(format string, v ...any) error {
		return s.CallErrhandler(newError(mpi.ErrArg, by, format, v...))
	}
	n := a.int(2)
	switch room := a.numbers(3); {
	case room.null():
		return bad("pset_len is %#x, which is no address", a.word(3))
	case n < 0 || n >= len(names):
		return bad("process set %d of %d", n, len(names))
	case room.get(0) < 0:
		return bad("room for %d bytes", room.get(0))
	case room.get(0) > 0 && a.result(4) == nil:
		return bad("room for %d bytes at %#x, which is no address", room.get(0), a.word(4))
	default:
		setText(a.word(4), room.get(0), names[n])
		a.setInt(3, len(names[n])+1)
	}
	return nil
}

// groupFromPset is MPI_Group_from_session_pset. A name that no process set has gives the null
// handle and is no error.
func (l *Lib) groupFromPset(a args) error {
	const by = call.GroupFromSessionPset
	if err := l.need(by, a, "newgroup", 2); err != nil {
		return err
	}
	a.setWord(2, groupNull)
	s, err := l.session(a.word(0), by)
	if err != nil {
		return err
	}
	if pointer(a.word(1)) == nil {
		return s.CallErrhandler(newError(mpi.ErrArg, by, "name at %#x, which is no address", a.word(1)))
	}
	g, found, err := engine.PsetGroup(s, text(a.word(1)))
	if err == nil && found {
		a.setWord(2, l.addGroup(g))
	}
	return err
}

// commFromGroup is MPI_Comm_create_from_group. Its errors go to the error handler among its
// arguments.
func (l *Lib) commFromGroup(a args) error {
	return l.fromGroups(call.CommCreateFromGroup, a, 1, func(g mpi.Group, tag string, h mpi.Errhandler, hints []mpi.CommHint) (*mpi.Comm, error) {
		return mpi.CommFromGroup(g, tag, h, hints...)
	})
}

// intercommFromGroups is MPI_Intercomm_create_from_groups. The remote group is significant at the
// leader only, so an invalid handle becomes the empty group here, which package mpi refuses at a
// leader.
func (l *Lib) intercommFromGroups(a args) error {
	return l.fromGroups(call.IntercommCreateFromGroups, a, 4, func(g mpi.Group, tag string, h mpi.Errhandler, hints []mpi.CommHint) (*mpi.Comm, error) {
		remote, _ := l.groups.get(a.word(2))
		return mpi.IntercommFromGroups(g, a.int(1), remote, a.int(3), tag, h, hints...)
	})
}

// fromGroups carries out a call that makes a communicator of groups, of which the first argument is
// that of the caller. The arguments from number tag on are the tag, the info, the error handler and the result.
func (l *Lib) fromGroups(by call.Number, a args, tag int, do func(mpi.Group, string, mpi.Errhandler, []mpi.CommHint) (*mpi.Comm, error)) error {
	result := tag + 3
	h, err := l.errhandler(a.word(tag+2), by)
	if err != nil {
		return err
	}
	bad := func(cl mpi.Class, format string, v ...any) error {
		return engine.Raise(h, newError(cl, by, format, v...))
	}
	if a.result(result) == nil {
		return bad(mpi.ErrArg, "the new communicator is %#x, which is no address of a result", a.word(result))
	}
	a.setWord(result, commNull)
	g, isGroup := l.groups.get(a.word(0))
	info, ok := l.infos.get(a.word(tag + 1))
	switch {
	case !isGroup && a.word(0) != groupEmpty:
		return bad(mpi.ErrGroup, "%#x is no group: it was freed, is MPI_GROUP_NULL, or never was one", a.word(0))
	case !ok && !slices.Contains([]handle{infoNull, infoEnv}, a.word(tag+1)):
		return bad(mpi.ErrInfo, "%#x is no info: it was freed, or never was one", a.word(tag+1))
	case pointer(a.word(tag)) == nil:
		return bad(mpi.ErrArg, "tag at %#x, which is no address", a.word(tag))
	}
	c, err := do(g, text(a.word(tag)), h, commHints(info))
	if err == nil {
		a.setWord(result, l.addComm(c))
	}
	return err
}
