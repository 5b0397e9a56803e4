//go:build unix

package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/launch/exit"
	"github.com/halo-mpi/halo/internal/launch/ps"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/sys"
)

// notifySignals returns the signals that come for the job. One that was ignored
// when the launcher started (nohup) stays ignored.
func notifySignals() <-chan os.Signal {
	c := make(chan os.Signal, 16)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGPIPE} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c
}

// stopTimeout bounds the time to send agents of other hosts the notice that the launcher is
// being stopped.
const stopTimeout = 100 * time.Millisecond

// together is the time after a signal that ends the job within which further ones mean the same. timeout(1)
// signals its child and then the process group of its child, batch systems and systemd signal all processes
// of a job, and people press Ctrl-C more than once. It is at most lingerDelay, after which the launcher
// tells how to force the end.
//
// Rejected: to take all signals of one sender for one, whenever they come. A shell from which a user calls
// kill twice is one sender, and so is the kernel for all keys pressed in a terminal.
const together = lingerDelay

// endsJobs reports whether s is a signal by which tools and terminals end a job.
func endsJobs(s syscall.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP
}

// signal forwards s to the ranks.
func (j *job) signal(s syscall.Signal) {
	if s == syscall.SIGPIPE { // the failed write returns the error
		return
	}
	if endsJobs(s) && j.interrupted != 0 && time.Since(j.interruptedAt) < together && !planted.SignalsApart {
		if s != j.interrupted {
			j.forwardAll(s) // the ranks may have another handler for it
		}
		return
	}
	switch s {
	case syscall.SIGINT, syscall.SIGTERM:
		if j.interrupted != 0 {
			j.end(exit.SignalBase+int(s), "the job was killed by a second signal, %s", sys.SignalName(s))
			j.forwardAll(syscall.SIGKILL)
			for _, k := range j.jobs {
				k.abandoned = k.running == 0
			}
			return
		}
		fallthrough
	case syscall.SIGHUP, syscall.SIGQUIT:
		if j.interrupted == 0 {
			j.interrupted, j.interruptedAt = s, time.Now()
			j.awaitEnd(s)
		}
		if !j.begun { // no rank can receive it
			j.endInterrupted(exit.SignalBase + int(s))
		}
	}
	switch {
	case s == syscall.SIGQUIT && j.begun: // users send it to a program that hangs
		j.collect(func(tables []string) {
			j.forwardAll(s)
			j.quitTables = append(j.quitTables, tables...)
			time.AfterFunc(quitDelay, func() { j.post(j.showQuit) })
		})
		return
	case s == syscall.SIGUSR2: // which shows the tables and changes nothing
		j.show(func() {})
		return
	}
	j.forwardAll(s)
	if s == syscall.SIGTSTP {
		for _, k := range j.jobs {
			for _, h := range k.hosts {
				if !h.over() && h.remote.out != nil {
					h.remote.out.Flush(stopTimeout) // so that the agents know
				}
			}
		}
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
}

// endInterrupted ends a job whose ranks were sent a signal to end them.
func (j *job) endInterrupted(status int) {
	j.end(status, "the job was ended by %s", sys.SignalName(j.interrupted))
}

// showTimeout bounds how long the end of the ranks is delayed for a table that nobody reads.
const showTimeout = time.Second

// quitDelay is how long after SIGQUIT the tables are written if the ranks go on: the stacks of ranks in
// Go, which end, come before the tables, so that the tables are what the user sees last.
const quitDelay = 5 * time.Second

// showQuit writes the tables of SIGQUIT, unless they are written already.
func (j *job) showQuit() {
	tables := j.quitTables
	j.quitTables = nil
	j.said.Go(func() {
		for _, table := range tables {
			j.stderr.say(table)
		}
	})
}

// collect finds out what each rank does and waits for, and then, in the loop, calls next with the tables.
func (j *job) collect(next func(tables []string)) {
	tables := j.tables()
	go func() {
		var texts []string
		for _, table := range tables {
			texts = append(texts, table()) // which ends after half of showTimeout
		}
		j.post(func() { next(texts) })
	}()
}

// show writes what each rank does and waits for to stderr, and then, in the
// loop, does next.
func (j *job) show(next func()) {
	tables := j.tables()
	shown := make(chan struct{})
	j.said.Go(func() {
		defer close(shown)
		for _, table := range tables {
			j.stderr.say(table())
		}
	})
	go func() {
		select {
		case <-shown:
		case <-time.After(showTimeout):
		}
		j.post(next)
	}()
}

// tables asks for what each rank does and waits for: functions that wait for the answer, one for each host.
func (j *job) tables() []func() string {
	var tables []func() string
	for _, k := range j.jobs {
		if !k.begun {
			continue
		}
		for _, h := range k.hosts {
			switch {
			case h.gone():
			case h.remote != nil:
				tables = append(tables, h.remote.table())
			default:
				text := ps.Table(k.agent.Notes())
				tables = append(tables, func() string { return text })
			}
		}
	}
	return tables
}
