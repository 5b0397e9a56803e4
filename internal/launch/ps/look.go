//go:build unix

package ps

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/node/segment"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// A Looker looks at the ranks of this host again and again. It keeps the places in the source of programs in C that
// it has found, since to find one takes longer than all else.
type Looker struct {
	places map[callPlace]string
}

type callPlace struct {
	pid int
	callsite.Address
}

// maxPlaces bounds the places that a looker keeps.
const maxPlaces = 1000

// Look returns the state of the ranks of this host.
func (l *Looker) Look(n *segment.Notes) (*JobState, error) {
	h, views, err := n.Read()
	if err != nil {
		return nil, err
	}
	return newJobState(h, views, time.Now(), l.linesOf), nil
}

// linesOf is the function linesOf, which remembers.
func (l *Looker) linesOf(pid int) func(list []callsite.Address) []string {
	return func(list []callsite.Address) []string {
		if l.places == nil || len(l.places) > maxPlaces {
			l.places = make(map[callPlace]string)
		}
		answers := make([]string, len(list))
		for i, a := range list {
			place := callPlace{pid, a}
			text, known := l.places[place]
			if !known {
				found := linesOf(pid)([]callsite.Address{a})
				if len(found) != 1 {
					return nil
				}
				text = found[0]
				l.places[place] = text
			}
			answers[i] = text
		}
		return answers
	}
}

// lookFrame is what an agent tells of the ranks of its host: their states, and what the JSON of these leaves out.
type lookFrame struct {
	State *JobState
	More  []moreOfRank
}

type moreOfRank struct {
	InC, Busy bool
	Stage     shmfmt.Stage
	Changed   time.Time
	Awaits    []int
}

// Encode encodes a state for another host.
func (s *JobState) Encode() ([]byte, error) {
	x := lookFrame{s, make([]moreOfRank, len(s.Ranks))}
	for i := range s.Ranks {
		r := &s.Ranks[i]
		x.More[i] = moreOfRank{r.inC, r.busy, r.stage, r.changed, make([]int, len(r.Waits))}
		for k, w := range r.Waits {
			x.More[i].Awaits[k] = w.awaits
		}
	}
	return json.Marshal(x)
}

// DecodeJobState decodes the state that another host has just sent. The times in it become those of the clock of
// this host.
func DecodeJobState(b []byte, now time.Time) (*JobState, error) {
	var x lookFrame
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, err
	}
	if x.State == nil || len(x.More) != len(x.State.Ranks) {
		return nil, errors.New("a state without its ranks")
	}
	behind := now.Sub(x.State.Seen)
	x.State.Seen, x.State.Started = now, x.State.Started.Add(behind)
	for i, more := range x.More {
		r := &x.State.Ranks[i]
		if len(more.Awaits) != len(r.Waits) {
			return nil, errors.New("a rank without its waits")
		}
		r.inC, r.busy, r.stage, r.changed = more.InC, more.Busy, more.Stage, more.Changed.Add(behind)
		for k := range r.Waits {
			w := &r.Waits[k]
			w.awaits, w.Since = more.Awaits[k], w.Since.Add(behind)
		}
	}
	return x.State, nil
}
