//go:build unix

package ps

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Print writes the state of the jobs of this user on this host, or only of the job with that name,
// which may be abbreviated, or with that launcher; as JSON if asked for. It returns
// the number of jobs, and the processes that could not be read.
func Print(w io.Writer, asJSON bool, name string) (n int, unread []string, err error) {
	jobs, unread, err := findJobs(name)
	if asJSON {
		if jobs == nil {
			jobs = []*JobState{}
		}
		text, e := json.MarshalIndent(jobs, "", "  ")
		if e == nil {
			_, e = fmt.Fprintf(w, "%s\n", text)
		}
		return len(jobs), unread, errors.Join(err, e)
	}
	for i, s := range jobs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if e := s.Write(w); e != nil {
			return len(jobs), unread, e
		}
	}
	return len(jobs), unread, err
}

// JobState is the state of the part of a job on this host at one moment.
type JobState struct {
	Job      string      `json:"job"`      // a job that another one has spawned has its name, a dot and a number
	Launcher int         `json:"launcher"` // process id of the launcher, or of its agent on this host
	Size     int         `json:"size"`     // ranks on all hosts
	Fabric   string      `json:"fabric"`
	Command  string      `json:"command"`
	Started  time.Time   `json:"started"`
	Seen     time.Time   `json:"seen"` // the time of the observation
	Ranks    []RankState `json:"ranks"`
	// Deadlock is the reason to suspect a deadlock, "" if there is none.
	Deadlock string `json:"deadlock,omitempty"`

	led bool // Launcher is one of the ranks: see boot/joined
}

// RankState is the state of one rank.
type RankState struct {
	Rank  int    `json:"rank"`
	Pid   int    `json:"pid"`   // 0 before the start
	State string `json:"state"` // one of the states below
	// CPU is the processor time of the process in seconds; 0 if it is not known.
	CPU    float64 `json:"cpu"`
	Detail string  `json:"detail,omitempty"` // more about the state
	// Asleep is how many goroutines of the process sleep in calls. Waits describes
	// some of them, the one that has slept longest first.
	Asleep int         `json:"asleep"`
	Waits  []WaitState `json:"waits"`
	// Unmatched describes messages that have arrived while the process sleeps, and that none of its
	// receives matches.
	Unmatched string `json:"unmatched,omitempty"`

	inC     bool // a program in C
	stage   shmfmt.Stage
	changed time.Time // when Asleep last changed
	busy    bool      // on a core, or waiting for one, at the time of the observation
}

// WaitState is what a goroutine of a rank waits for.
type WaitState struct {
	For   string    `json:"for"`
	Since time.Time `json:"since"`

	awaits int // see shmfmt.Wait
}

// The states of a rank. One with goroutines both in and out of calls is waiting.
const (
	Starting = "starting"
	Running  = "running"
	Waiting  = "waiting"
	Stopped  = "stopped" // by a signal or a debugger
	Ended    = "ended"
)

// Write writes the job as a table for people: a line for the job, one for each
// rank, and one more for each further goroutine of a rank that waits.
func (s *JobState) Write(w io.Writer) error {
	var b strings.Builder
	who := "launcher"
	if !strings.HasPrefix(s.Job, fmt.Sprint(s.Launcher, "-")) { // a job is named after its launcher
		who = "agent"
	}
	if s.led {
		who = "leader"
	}
	spawned := ""
	if parent := s.parent(); parent != "" {
		spawned = ", spawned by job " + parent
	}
	fmt.Fprintf(&b, "job %s: %s, fabric %s, %s pid %d, started %s ago%s: %s\n",
		s.Job, wording.Count(s.Size, "rank"), s.Fabric, who, s.Launcher, ago(s.Seen.Sub(s.Started)), spawned, s.Command)
	fmt.Fprintf(&b, "%5s %8s  %-8s %9s  %7s  %s\n", "RANK", "PID", "STATE", "CPU", "SINCE", "WAITS FOR")
	for i := range s.Ranks {
		r := &s.Ranks[i]
		pid, cpu := "-", "-"
		if r.Pid != 0 {
			pid = fmt.Sprint(r.Pid)
		}
		if r.CPU > 0 {
			cpu = fmt.Sprintf("%.2fs", r.CPU)
		}
		var lines [][2]string
		for k, wait := range r.Waits {
			text := wait.For
			if k == 0 && r.Detail != "" {
				text += " (" + r.Detail + ")"
			}
			lines = append(lines, [2]string{ago(s.Seen.Sub(wait.Since)), text})
		}
		if more := r.Asleep - len(r.Waits); more > 0 && len(lines) > 0 {
			lines = append(lines, [2]string{"", wording.Calls(fmt.Sprintf("and %d more goroutines", more), r.inC)})
		}
		if r.Unmatched != "" && len(lines) > 0 {
			lines = append(lines, [2]string{"", "here, unmatched: " + r.Unmatched})
		}
		if len(lines) == 0 {
			text := ""
			if r.Detail != "" {
				text = "(" + r.Detail + ")"
			}
			lines = append(lines, [2]string{"", text})
		}
		head := fmt.Sprintf("%5d %8s  %-8s %9s", r.Rank, pid, r.State, cpu)
		for _, l := range lines {
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-34s  %7s  %s", head, l[0], l[1]), " "))
			b.WriteByte('\n')
			head = ""
		}
	}
	if s.Deadlock != "" {
		fmt.Fprintf(&b, "%s\n", s.Deadlock)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// parent is the job that has spawned this one, "" if none has: a job that is spawned has the name of the other
// one, a dot and a number.
func (s *JobState) parent() string {
	at := strings.LastIndexByte(s.Job, '.')
	if at < 0 || s.led { // job engines have names with dots, too
		return ""
	}
	if _, err := strconv.Atoi(s.Job[at+1:]); err != nil {
		return ""
	}
	return s.Job[:at]
}

// ago formats a duration in at most six characters. Negative durations, after a clock
// was set back, are 0s.
func ago(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", max(d, 0).Seconds())
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}
