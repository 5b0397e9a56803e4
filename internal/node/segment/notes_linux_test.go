package segment

import (
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

func newNotes(ranks []int) *Notes {
	return NewNotes(&shmfmt.NotesHeader{Size: 8, Started: time.Now(), Job: "job", Fabric: "shm"}, ranks)
}

// Processes start while one of them brings the notes of an earlier owner. In the end the memory has what
// both owners have noted, whenever it was replaced.
func TestXSES01_NotesOfTwoOwners(t *testing.T) {
	ranks := []int{1, 2, 4, 7}
	for range 50 {
		before := newNotes(ranks)
		before.Started(1, 101)
		before.InC(1)
		before.Started(2, 102)
		m := New(true, ranks, newNotes(ranks))
		own, err := m.Segment(boot.NotesSegment)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() { m.Give(boot.NotesSegment, before.shared()) })
		for _, rank := range ranks[1:] {
			all.Go(func() {
				m.Notes().Started(rank, 200+rank)
				if rank == 7 {
					m.Notes().InC(rank)
				}
			})
		}
		all.Wait()
		if _, err := own.Stat(); err != nil {
			t.Errorf("the memory that a session may be sending: %v", err)
		}
		f, err := m.Segment(boot.NotesSegment)
		if err != nil || f != before.shared() {
			t.Fatalf("notes %v, %v: not those of the owner before", f, err)
		}
		_, views, err := m.Notes().Read()
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []shmfmt.NoteView{{Rank: 1, Pid: 101, InC: true}, {Rank: 2, Pid: 202}, {Rank: 4, Pid: 204}, {Rank: 7, Pid: 207, InC: true}} {
			if v := views[i]; v.Rank != want.Rank || v.Pid != want.Pid || v.InC != want.InC {
				t.Errorf("rank %d: rank %d, pid %d, in C %v", want.Rank, v.Rank, v.Pid, v.InC)
			}
		}
		m.Close()
	}
}
