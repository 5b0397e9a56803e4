package boot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/halo-mpi/halo/internal/frame"
)

// A Spawn asks the launcher for a new job, whose processes the launcher watches with those of the job that
// asks: if one of them fails, all end, but for Apart. Without blocks it asks how many slots are free.
type Spawn struct {
	Parent  string        // what the new processes find in Job.Parent
	Timeout time.Duration // for all of them to call Init; 0: none
	Apart   bool          // once all have called Init, the end of the new job ends no other
	Blocks  []SpawnBlock
	// Ended, if not nil, is called when the job that was started ends, or fails, or the launcher is lost: what
	// waits for its processes waits for nothing then.
	Ended func(why string)
}

// A SpawnBlock is one program of a Spawn.
type SpawnBlock struct {
	Program  string
	Args     []string
	Max      int      // the number of processes
	Soft     string   // other numbers that will do, as A, A:B and A:B:STEP with commas; "": none
	Dir      string   // working directory; "": the launcher's
	Path     []string // directories to search for Program before PATH
	Env      []string // NAME=value, beside what the processes of the job have
	Hosts    string   // NAME or NAME:SLOTS, separated by commas; "": those of the job
	HostFile string   // a file that lists hosts; "": none
	Arch     string   // architecture of the hosts, as Go names it; "": any
	Bind     string   // "core", "none", or "" for any core
}

// Spawned is the answer to a Spawn.
type Spawned struct {
	Job    string // the new job; "" if none was started
	Counts []int  // by block: how many processes were started; for a Spawn without blocks the free slots
	Why    string // why the others, or all, were not; "" if all were
	// Listen is not "" if nothing was started because processes on other hosts would not reach the parent. The
	// parent opens its port at this address, and asks again.
	Listen string
}

// A Spawn in a frame:
//
//	number, milliseconds of the timeout uint32, Apart uint8, blocks uint32 | Parent as words |
//	for each block: Max uint32, words of its texts, Args, Path and Env as words
//
// The other requests and answers about it:
//
//	GiveUp    number uint32: end what has been started, and answer
//	Spawned   number uint32, Job and Listen as texts, count of blocks uint32, processes started uint32 each, Why as rest;
//	          once more without Job when the job ends, with the reason as Why

func (s *Spawn) encode(number uint32) []byte {
	apart := uint8(0)
	if s.Apart {
		apart = 1
	}
	limit := (s.Timeout + time.Millisecond - 1).Milliseconds() // no limit is 0
	w := frame.New(kindSpawn).U32(number).U32(uint32(min(limit, 1<<31))).U8(apart).U32(uint32(len(s.Blocks))).Words([]string{s.Parent})
	for _, b := range s.Blocks {
		w.U32(uint32(b.Max)).Words([]string{b.Program, b.Soft, b.Dir, b.Hosts, b.HostFile, b.Arch, b.Bind})
		w.Words(b.Args).Words(b.Path).Words(b.Env)
	}
	return w.Bytes()
}

// DecodeSpawn decodes the body of a Spawn frame.
func DecodeSpawn(body []byte) (number uint32, s *Spawn, err error) {
	r := frame.Body{Left: body}
	number = r.U32()
	s = &Spawn{Timeout: time.Duration(r.U32()) * time.Millisecond, Apart: r.U8() == 1}
	blocks, parent := r.U32(), r.Words()
	if len(parent) != 1 || len(parent[0]) > frame.MaxText {
		r.Bad = true
	} else {
		s.Parent = parent[0]
	}
	total := 0
	for n := blocks; n > 0 && !r.Bad; n-- {
		b := SpawnBlock{Max: int(r.U32())}
		texts := r.Words()
		b.Args, b.Path, b.Env = r.Words(), r.Words(), r.Words()
		total += b.Max
		if len(texts) != 7 || b.Max < 0 || b.Max > MaxRanks || total > MaxRanks {
			r.Bad = true
			break
		}
		b.Program, b.Soft, b.Dir, b.Hosts, b.HostFile, b.Arch, b.Bind = texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6]
		s.Blocks = append(s.Blocks, b)
	}
	if !r.Done() {
		return number, nil, fmt.Errorf("boot: a request for %d processes in %d blocks, of %d bytes, that does not decode", total, blocks, len(body))
	}
	return number, s, nil
}

// Encode appends the answer to a frame.
func (s *Spawned) Encode(w *frame.Writer) *frame.Writer {
	w.Text(s.Job).Text(s.Listen).U32(uint32(len(s.Counts)))
	for _, n := range s.Counts {
		w.U32(uint32(n))
	}
	return w.Rest(s.Why)
}

// DecodeSpawned decodes what Encode has appended.
func DecodeSpawned(r *frame.Body) *Spawned {
	s := &Spawned{Job: r.Text(), Listen: r.Text()}
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		s.Counts = append(s.Counts, int(r.U32()))
	}
	s.Why = string(r.Left)
	r.Left = nil
	return s
}

// A Spawner is a Host that can start further jobs.
type Spawner interface {
	Host
	// Spawn is called when rank asks for a job: Session.Spawned answers. body is that of the frame.
	Spawn(rank int, number uint32, body []byte)
	// GiveUp is called when rank does not wait any longer for what it has asked for. It is answered all the same.
	GiveUp(rank int, number uint32)
}

// maxSpawn bounds the length of a Spawn, in bytes: the kernel allows no more for arguments and environment
// of a process unless the stack may be larger than usual.
const maxSpawn = 8 << 20

// maxSpawned bounds the length of the answer.
const maxSpawned = 64 + 3*frame.MaxText + 4*MaxRanks

// spawn handles the requests about a Spawn.
func (c *Session) spawn(kind uint8, body []byte) error {
	host, ok := c.server.host.(Spawner)
	if !ok {
		return errors.New("boot: a request for a job, which this host cannot start")
	}
	if kind == kindGiveUp {
		number, err := number("give up", body)
		if err == nil {
			host.GiveUp(c.rank, uint32(number))
		}
		return err
	}
	number, _, err := DecodeSpawn(body)
	if err == nil {
		host.Spawn(c.rank, number, slices.Clone(body))
	}
	return err
}

// Spawned answers the Spawn with a number. Like Over it blocks as long as the process lives and does not
// read.
func (c *Session) Spawned(number uint32, s *Spawned) {
	c.write(s.Encode(frame.New(kindSpawned).U32(number)).Bytes(), nil)
}

// spawning has the requests for jobs that the launcher has not answered. The zero value has none.
type spawning struct {
	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan *Spawned
	ended   map[uint32]func(why string) // of requests, and of jobs that have not ended
}

func (s *spawning) begin(ended func(why string)) (number uint32, answer chan *Spawned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[uint32]chan *Spawned{}
	}
	if s.ended == nil {
		s.ended = map[uint32]func(string){}
	}
	s.last++
	answer = make(chan *Spawned, 1)
	s.waiting[s.last] = answer
	if ended == nil {
		ended = func(string) {}
	}
	s.ended[s.last] = ended
	return s.last, answer
}

// take handles the body of a Spawned. It returns an error for one that no correct launcher sends.
func (s *spawning) take(body []byte) error {
	r := frame.Body{Left: body}
	number, a := r.U32(), DecodeSpawned(&r)
	s.mu.Lock()
	answer, ended := s.waiting[number], s.ended[number]
	delete(s.waiting, number)
	if answer == nil || a.Job == "" {
		delete(s.ended, number)
	}
	s.mu.Unlock()
	switch {
	case r.Bad || ended == nil:
		return fmt.Errorf("boot: answer of %d bytes to request %d", len(body), number)
	case answer == nil:
		ended(a.Why)
	default:
		answer <- a
	}
	return nil
}

// lost ends all jobs, since the launcher is lost. The requests that wait end by themselves.
func (s *spawning) lost() {
	s.mu.Lock()
	all := s.ended
	s.ended = nil
	s.mu.Unlock()
	for _, ended := range all {
		ended(ErrOver.Error())
	}
}

// Spawn implements Boot.
func (c *launched) Spawn(ctx context.Context, s *Spawn) (*Spawned, error) {
	number, answer := c.spawning.begin(s.Ended)
	if err := c.write(s.encode(number)); err != nil {
		return nil, err
	}
	done := ctx.Done()
	for {
		select {
		case a := <-answer:
			if a.Job == "" && ctx.Err() != nil {
				return a, ctx.Err()
			}
			return a, nil
		case <-done:
			done = nil
			if err := c.write(frame.New(kindGiveUp).U32(number).Bytes()); err != nil {
				return nil, err
			}
		case <-c.lost:
			return nil, ErrOver
		}
	}
}
