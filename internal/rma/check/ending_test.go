package check

import (
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/comm"
)

// asking is rank 0 of a window of two, whose questions go to the checker of rank 1. before is called before a question is
// answered, after when it has been.
type asking struct {
	memberOf
	lock          sync.Mutex
	other         *Window
	before, after func(what question, c entry)
}

func (m *asking) Live() error { return nil }
func (m *asking) Ask(_ int, text []byte) []byte {
	c, _, _ := decodeEntry(text[1:], 2)
	m.before(question(text[0]), c)
	m.lock.Lock()
	answer, _ := m.other.Answer(0, text)
	m.lock.Unlock()
	m.after(question(text[0]), c)
	return answer
}

// RC-10, QV-03: a thread asks the target about its put while a flush of another thread is telling the target that earlier
// operations are complete. The put is logged behind that, so the thread's own flush tells the target, and then
// the thread may put again.
func TestRC10_PutsBesideFlushesOfOtherThreads(t *testing.T) {
	asked, told, returned := make(chan bool), make(chan bool), make(chan bool)
	once := false
	m := &asking{memberOf: memberOf{comm: comm.Comm{Members: []int32{0, 1}}}, other: checked(make([]byte, 64))}
	m.before = func(what question, c entry) {
		if what == askAccess && c.call.Name == "PutOfOther" && !once {
			asked <- true
			<-told
		}
	}
	m.after = func(what question, _ entry) {
		if what == askComplete && !once {
			once = true
			told <- true
			<-returned
		}
	}
	w := New(new(sync.Mutex), m, false, Locator{})
	put := func(name string, at uint64) error {
		p, err := w.Begin(&Access{Call: Call{Name: name}, Target: 1, Kind: Put, Epoch: Lock, Offset: at, Size: 8})
		if err == nil {
			p.Issued(nil, nil)
		}
		return err
	}
	flush := func() {
		if err := w.End(Call{Name: "Flush"}, 1).Ended(nil); err != nil {
			t.Error(err)
		}
	}
	if err := put("Put", 0); err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := put("PutOfOther", 8); err != nil {
			t.Error(err)
		}
		returned <- true
	}()
	<-asked
	flush() // of this thread
	flush() // of the other one
	if err := put("PutOfOther", 8); err != nil {
		t.Errorf("the flush after a put has not told the target: %v", err)
	}
}
