//go:build unix

package ps

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Under a job engine one rank leads the others of its node, which are not its children.
func TestF6_PsShowsRanksOfAnEngine(t *testing.T) {
	views := []shmfmt.NoteView{{Pid: os.Getpid(), Stage: shmfmt.StageRunning}, {Rank: 1, Pid: os.Getppid(), Stage: shmfmt.StageRunning}}
	s := newJobState(&shmfmt.NotesHeader{Launcher: os.Getpid(), Job: "kvs-1"}, views, time.Now(), linesOf)
	for _, r := range s.Ranks {
		if seesProcesses && r.State == Ended {
			t.Errorf("rank %d: %+v", r.Rank, r)
		}
	}
	var table strings.Builder
	s.Write(&table)
	if !strings.Contains(table.String(), "leader pid") {
		t.Error(table.String())
	}
	s = newJobState(&shmfmt.NotesHeader{Launcher: os.Getpid(), Job: "kvs-1"}, views[1:], time.Now(), linesOf)
	if seesProcesses && s.Ranks[0].State != Ended {
		t.Errorf("a process that the launcher has not started: %+v", s.Ranks[0])
	}
}

// The table names the calls of a program in C as in C; waits are noted so.
func TestF6_TablesNameCallsAsInC(t *testing.T) {
	var table strings.Builder
	many := []shmfmt.NoteView{{Pid: os.Getpid(), InC: true, Stage: shmfmt.StageRunning, Asleep: 3, Waits: []shmfmt.Wait{{For: "MPI_Barrier"}}}}
	newJobState(&shmfmt.NotesHeader{Launcher: os.Getppid()}, many, time.Now(), linesOf).Write(&table)
	if !strings.Contains(table.String(), "  MPI_Barrier\n") || !strings.Contains(table.String(), "and 2 more threads\n") {
		t.Error(table.String())
	}
	for stage, want := range map[shmfmt.Stage]string{shmfmt.StageInit: "[MPI_Init] (rank 0 did not call it yet)",
		shmfmt.StageFinalizing: "[MPI_Finalize] ()", shmfmt.StageFinalized: "[] (has called MPI_Finalize)"} {
		s := newJobState(&shmfmt.NotesHeader{Launcher: os.Getppid()}, []shmfmt.NoteView{{Pid: 1}, {Rank: 1, Pid: os.Getpid(), Stage: stage, InC: true}}, time.Now(), linesOf)
		var calls []string
		for _, w := range s.Ranks[1].Waits {
			calls = append(calls, w.For)
		}
		if got := fmt.Sprintf("%v (%s)", calls, s.Ranks[1].Detail); got != want {
			t.Errorf("stage %d: %s, want %s", stage, got, want)
		}
	}
}
