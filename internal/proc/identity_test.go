package proc_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/proc"
)

// nowhere is a fabric to every process that the tests never send on.
type nowhere struct{ fabric.Fabric }

// alone returns a process that has not been started. Its fabric to all others is a nowhere.
func alone(t testing.TB, b boot.Boot) *proc.Proc {
	t.Helper()
	p, err := proc.New(b, nil, nowhere{}, proc.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A process of another job gets the next number when it is met, once, and keeps it.
func TestMeet(t *testing.T) {
	p := alone(t, boot.Memory(3)[1])
	job := p.Job().ID
	numbers := map[proc.ID]int{{Job: job, Index: 0}: 0, {Job: job, Index: 2}: 2}
	for i, id := range []proc.ID{{"x", 7}, {"y", 7}, {"x", 0}, {"x", boot.MaxRanks - 1}} {
		if n := p.Number(id); n != -1 {
			t.Errorf("%v has the number %d before it is met", id, n)
		}
		for range 2 {
			n, err := p.Meet(id, false)
			if err != nil || n != 3+i {
				t.Errorf("Meet(%v) = %d, %v, want %d", id, n, err, 3+i)
			}
		}
		numbers[id] = 3 + i
	}
	for id, n := range numbers {
		if p.Number(id) != n || p.Identity(n) != id {
			t.Errorf("%v has the number %d, and %d is %v", id, p.Number(id), n, p.Identity(n))
		}
	}
	if a, b := p.Foreign([]int32{0, 2, 1}), p.Foreign([]int32{0, 1, 4, 3}); a != -1 || b != 2 {
		t.Errorf("the first processes of other jobs are at %d and %d, want -1 and 2", a, b)
	}
	if p.Known() != 7 || p.Near(5) || p.DownCause(5) != nil {
		t.Errorf("%d processes are known, want 7; one of another job is near: %t, or down: %v", p.Known(), p.Near(5), p.DownCause(5))
	}
}

// Meet enforces the limits on jobs and on processes, and its error names the limit.
func TestMeetBeyondTheLimits(t *testing.T) {
	p := alone(t, boot.Memory(2)[0])
	refused := func(id proc.ID, want string) {
		t.Helper()
		known := p.Known()
		if n, err := p.Meet(id, false); err == nil || !strings.Contains(err.Error(), want) || n != -1 || p.Known() != known {
			t.Errorf("Meet(%v) = %d, %v, want an error with %q", id, n, err, want)
		}
	}
	refused(proc.ID{Job: p.Job().ID, Index: 2}, "process 2 of the own job, which has 2")
	refused(proc.ID{Job: "x", Index: boot.MaxRanks}, "at most 65536 processes")
	refused(proc.ID{Job: "x", Index: -1}, "process -1")
	refused(proc.ID{Index: 1}, "a job has a name")
	for i := range proc.JobsMax {
		if _, err := p.Meet(proc.ID{Job: fmt.Sprint("job ", i)}, false); err != nil {
			t.Fatalf("job %d of %d: %v", i, proc.JobsMax, err)
		}
	}
	refused(proc.ID{Job: "one more"}, "processes of 4096 other jobs have been met, the limit")
	if n, err := p.Meet(proc.ID{Job: "job 4095", Index: 5}, false); err != nil || n != 2+proc.JobsMax {
		t.Errorf("a second process of the last job: %d, %v", n, err)
	}
	unreachable, err := proc.New(boot.Memory(1)[0], nil, nil, proc.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unreachable.Meet(proc.ID{Job: "x"}, false); err == nil || !strings.Contains(err.Error(), "no fabric") {
		t.Errorf("a process without sockets has met another job: %v", err)
	}
}

// Two processes call a third one by different numbers. Lists that travel between them name the same
// processes, and all have the same order of processes.
func TestListsOfProcessesTravel(t *testing.T) {
	boots := boot.Memory(3)
	p, q := alone(t, boots[0]), alone(t, boots[2])
	job := p.Job().ID
	ids := []proc.ID{{job, 2}, {"x", 4}, {"a", 9}, {"x", 1}, {job, 0}}
	for i := range ids {
		for _, m := range []struct {
			p  *proc.Proc
			id proc.ID
		}{{p, ids[i]}, {q, ids[len(ids)-1-i]}} {
			if _, err := m.p.Meet(m.id, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	numbers := func(p *proc.Proc) (list []int32) {
		for _, id := range ids {
			list = append(list, int32(p.Number(id)))
		}
		return list
	}
	if slices.Equal(numbers(p), numbers(q)) {
		t.Fatal("both processes have the same numbers: the test shows nothing")
	}
	b := p.AppendIDs(nil, numbers(p))
	got, err := q.NumbersOf(b)
	if err != nil || !slices.Equal(got, numbers(q)) {
		t.Errorf("%v of one process are %v of the other, want %v: %v", numbers(p), got, numbers(q), err)
	}
	if len(b) > p.IDsMax() || len(b) > q.IDsMax() {
		t.Errorf("a list of %d bytes, the longest have %d and %d", len(b), p.IDsMax(), q.IDsMax())
	}
	for i := range ids {
		for k := range ids {
			if p.Before(p.Number(ids[i]), p.Number(ids[k])) != q.Before(q.Number(ids[i]), q.Number(ids[k])) {
				t.Errorf("two processes disagree on whether %v comes before %v", ids[i], ids[k])
			}
		}
	}
}

// NumbersOf accepts a list from another process only if this process has met each process in it,
// and if no process appears twice.
func TestS6_ForgedLists(t *testing.T) {
	p := alone(t, boot.Memory(3)[0])
	job := p.Job().ID
	list := func(jobs []string, processes ...uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(jobs)))
		for _, j := range jobs {
			b = append(binary.LittleEndian.AppendUint16(b, uint16(len(j))), j...)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(processes)/2))
		for _, n := range processes {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		return b
	}
	good := list([]string{job}, 0, 2, 0, 1)
	if n, err := p.NumbersOf(good); err != nil || !slices.Equal(n, []int32{2, 1}) {
		t.Fatalf("a good list: %v, %v", n, err)
	}
	for name, b := range map[string][]byte{
		"nothing":               nil,
		"an unknown job":        list([]string{job, "x"}, 0, 1, 1, 0),
		"a job that is missing": list([]string{job}, 1, 0),
		"beyond the job":        list([]string{job}, 0, 3),
		"a huge index":          list([]string{job}, 0, 1<<31),
		"twice":                 list([]string{job}, 0, 1, 0, 2, 0, 1),
		"cut":                   good[:len(good)-1],
		"with a rest":           append(slices.Clone(good), 0),
		"many jobs":             binary.LittleEndian.AppendUint32(nil, 1<<32-1),
		"many processes":        append(list([]string{job})[:4+2+len(job)], 255, 255, 255, 255),
	} {
		if n, err := p.NumbersOf(b); err == nil {
			t.Errorf("%s: accepted as %v", name, n)
		}
	}
}

// A context belongs to its creator: contexts of other processes and other jobs differ from it. The
// predefined contexts belong to the job.
func TestContexts(t *testing.T) {
	boots, others := boot.Memory(2), boot.Memory(2)
	p, q, x := alone(t, boots[0]), alone(t, boots[1]), alone(t, others[0])
	if p.WorldContext() != q.WorldContext() || p.LastContext() != q.LastContext() || p.SelfContext() == q.SelfContext() {
		t.Error("two processes of a job have other worlds, or the same self")
	}
	seen := map[uint64]bool{}
	add := func(ctx uint64) {
		t.Helper()
		if seen[ctx] || ctx == 0 || ctx%proc.ContextStep != 0 {
			t.Errorf("context %#x, a second time or not a multiple of %d", ctx, proc.ContextStep)
		}
		seen[ctx] = true
	}
	for _, p := range []*proc.Proc{p, x} {
		add(p.WorldContext())
		add(p.SelfContext())
		add(p.LastContext())
	}
	for range 1000 {
		for _, p := range []*proc.Proc{p, q, x} {
			serial, ctx := p.NewContext(false)
			add(ctx)
			if again, ok := q.ContextOf(p.Job().Rank, serial); p != x && (!ok || again != ctx) {
				t.Fatalf("process %d made context %#x, another one computes %#x, %t", p.Job().Rank, ctx, again, ok)
			}
		}
	}
	for serial := range uint64(4) {
		if _, ok := p.ContextOf(1, serial); ok {
			t.Errorf("serial number %d passes for a context that a process has made", serial)
		}
	}
}

// A process of another job that nothing holds any more is forgotten, and its number and that of its job
// are used again, but for the number of a process that a group contains.
func TestForget(t *testing.T) {
	p := alone(t, boot.Memory(2)[0])
	a, b := proc.ID{Job: "a", Index: 0}, proc.ID{Job: "a", Index: 1}
	meet := func(id proc.ID) int32 {
		n, err := p.Meet(id, false)
		if err != nil {
			t.Fatal(err)
		}
		return int32(n)
	}
	both := []int32{meet(a), meet(b)}
	p.Hold(both)
	p.Hold(both[:1])
	p.Release(both)
	if p.Number(a) != 2 || p.Number(b) != -1 || p.Identity(3) != (proc.ID{}) {
		t.Errorf("the numbers are %d and %d, of which the first is held", p.Number(a), p.Number(b))
	}
	if n := meet(b); n != 3 {
		t.Errorf("a process that is met again has the number %d, want 3", n)
	}
	p.Pin(both[1:])
	p.Hold(both[1:])
	p.Release(both[1:])
	if n := meet(b); n != 4 {
		t.Errorf("the number of a process in a group is used again: %d", n)
	}
	for i := range 3 * proc.JobsMax { // far more jobs than a process can know at the same time
		c := []int32{meet(proc.ID{Job: fmt.Sprint("c", i), Index: 7})}
		p.Hold(c)
		p.Release(c)
	}
	if p.Known() > 6 {
		t.Errorf("%d numbers are in use", p.Known())
	}
}
