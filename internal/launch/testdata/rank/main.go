// Rank is a program for tests of the launcher. Its arguments are steps, which it executes in order.
// Only rank K executes a step K@STEP.
package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/boot/joined"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

func main() {
	p := &process{rank: cmp.Or(os.Getenv("HALO_RANK"), "0")} // 0 without a launcher
	for i, step := range os.Args[1:] {
		who, rest, _ := strings.Cut(step, "@")
		if _, err := strconv.Atoi(who); err == nil {
			if who != p.rank {
				continue
			}
			step = rest
		}
		verb, arg, _ := strings.Cut(step, ":")
		if verb == "wrap" { // wrap:HOW starts the steps behind it in another process
			p.wrap(arg, os.Args[i+2:])
		}
		p.step(verb, arg)
	}
}

type process struct {
	rank  string
	boot  boot.Boot
	pmi   *bufio.ReadWriter // the link of a program of another MPI
	link  *os.File
	spins int

	caught chan os.Signal
}

// note maps the wait note of this rank.
func (p *process) note() *shmfmt.Note {
	f, err := p.boot.Segment(boot.NotesSegment)
	p.check(err)
	defer f.Close()
	job := p.boot.Job()
	mem, err := sys.Map(f, shmfmt.NotesSize(len(job.Local)))
	p.check(err)
	return shmfmt.OpenNote(mem, slices.Index(job.Local, job.Rank))
}

// ask sends a request of PMI-1, in which %R stands for the rank, and waits for the answer.
func (p *process) ask(text string, show bool) error {
	if p.pmi == nil {
		fd, err := strconv.Atoi(os.Getenv("PMI_FD"))
		if err != nil {
			return err
		}
		link := os.NewFile(uintptr(fd), "link")
		p.pmi = bufio.NewReadWriter(bufio.NewReader(link), bufio.NewWriter(link))
	}
	p.pmi.WriteString("cmd=" + strings.ReplaceAll(text, "%R", os.Getenv("PMI_RANK")) + "\n")
	if err := p.pmi.Flush(); err != nil {
		return err
	}
	answer, err := p.pmi.ReadString('\n')
	if show {
		fmt.Printf("%s %s", os.Getenv("PMI_RANK"), answer)
	}
	return err
}

func (p *process) check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

func (p *process) step(verb, arg string) {
	n, _ := strconv.Atoi(arg)
	var err error
	switch verb {
	case "init", "initc": // initc is the call of the C library
		p.boot, err = joined.Connect(verb == "initc", true)
	case "pmi": // sends a line of PMI-1 and prints the answer
		err = p.ask(arg, true)
	case "quietpmi": // the same, but prints nothing
		err = p.ask(arg, false)
	case "raw": // writes text to the link
		p.link = os.NewFile(3, "link")
		_, err = io.WriteString(p.link, arg)
	case "exchange":
		var all [][]byte
		all, err = p.boot.Exchange([]byte(p.rank))
		for i, v := range all {
			if p.boot.Job().Size > 1 && string(v) != strconv.Itoa(i) {
				err = fmt.Errorf("got %q from rank %d", v, i)
			}
		}
	case "finalize":
		err = p.boot.Finalize()
	case "spawn":
		err = p.spawn(arg)
	case "spawnall":
		err = p.spawnAll(arg)
	case "parent":
		fmt.Printf("rank %d of %d has the parent %q\n", p.boot.Job().Rank, p.boot.Job().Size, p.boot.Job().Parent)
	case "universe":
		fmt.Println("universe", p.boot.Job().Universe)
	case "free":
		var a *boot.Spawned
		if a, err = p.boot.Spawn(context.Background(), &boot.Spawn{}); err == nil {
			fmt.Println("free", a.Counts, a.Why)
		}
	case "job":
		j := p.boot.Job()
		fmt.Printf("rank %d of %d local %v fabric %s app %d secret %v\n",
			j.Rank, j.Size, j.Local, j.Fabric, j.AppNum, j.Secret != [32]byte{})
	case "secret":
		fmt.Printf("secret %x\n", p.boot.Job().Secret)
	case "hosts":
		j := p.boot.Job()
		fmt.Printf("rank %d hosts %v host %v listen %s\n", j.Rank, j.Hosts, j.Host, j.Listen)
	case "cores":
		fmt.Println("cores", p.boot.Job().Cores)
	case "segments": // writes into this rank's segment, and reads the others' after all have written
		var f *os.File
		f, err = p.boot.Segment(n)
		p.check(err)
		info, _ := f.Stat()
		fmt.Println("segment", n, info.Size())
	case "heap": // uses n bytes of this rank's heap, which lies behind the rings
		err = p.heap(int64(n))
	case "note", "longnote": // notes the call in which a goroutine waits, since now or for ten minutes
		n, since := p.note(), time.Now()
		if verb == "longnote" {
			since = since.Add(-10 * time.Minute)
		}
		n.SetStage(shmfmt.StageRunning)
		n.Begin()
		n.SetSleeper(0, since.UnixNano(), shmfmt.AwaitsUnknown, []byte(arg))
		n.End(1, since.UnixNano())
	case "spin":
		go func() {
			for {
				p.spins++
			}
		}()
	case "torn": // leaves a half-written note
		p.note().Begin()
	case "abort":
		p.boot.Abort(n, "of the test")
	case "lost":
		<-p.boot.Lost()
		fmt.Println("lost")
	case "exit":
		os.Exit(n)
	case "kill":
		syscall.Kill(os.Getpid(), syscall.Signal(n))
		time.Sleep(time.Hour)
	case "panic":
		panic("of the test")
	case "print":
		fmt.Println(arg)
	case "partial":
		fmt.Print(arg)
	case "stderr":
		fmt.Fprintln(os.Stderr, arg)
	case "sleep":
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "forever":
		for { // select{} would be a deadlock
			time.Sleep(time.Hour)
		}
	case "ready": // tells the test by a file that this rank has reached the step
		err = os.WriteFile(arg+"."+p.rank, []byte(strconv.Itoa(os.Getpid())), 0o600)
	case "when": // waits until the test has made a file
		for {
			if _, e := os.Stat(arg); e == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	case "head": // prints the first line of the input
		var line string
		line, err = bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Print(line)
	case "cat":
		_, err = io.Copy(os.Stdout, os.Stdin)
	case "env":
		fmt.Printf("%s=%s\n", arg, os.Getenv(arg))
	case "environ":
		for _, kv := range os.Environ() {
			fmt.Println(kv)
		}
	case "cwd":
		var dir string
		dir, err = os.Getwd()
		fmt.Println(dir)
	case "affinity":
		status, _ := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(status)) {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				fmt.Println("cpus", strings.TrimSpace(list))
			}
		}
	case "fds":
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			to, _ := os.Readlink("/proc/self/fd/" + e.Name())
			fmt.Println("fd", e.Name(), to)
		}
	case "ignore":
		signal.Ignore(syscall.Signal(n))
	case "catch": // prints the first signal n that arrives
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.Signal(n))
		go func() {
			fmt.Println("caught", <-c)
			os.Exit(0)
		}()
	case "yield", "flee": // calls Abort at signal n; flee exits 10 ms later
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.Signal(n))
		go func() {
			<-c
			if verb == "flee" {
				time.AfterFunc(10*time.Millisecond, func() { os.Exit(7) })
			}
			p.boot.Abort(7, "of the test")
		}()
	case "notify": // catches a signal, for await
		p.caught = make(chan os.Signal, 1)
		signal.Notify(p.caught, syscall.Signal(n))
	case "await": // waits for a signal
		if p.caught == nil {
			p.step("notify", arg)
		}
		<-p.caught
	case "orphan": // leaves a process in another session behind
		cmd := exec.Command(os.Args[0], "forever")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = cmd.Start()
	case "child": // starts this program, which then is not in the rank's job
		cmd := exec.Command(os.Args[0], strings.Fields(arg)...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err = cmd.Run()
	case "flood": // prints N MiB without a newline, each beginning with its number
		block := []byte(strings.Repeat("x", 1<<20))
		for i := 0; i < n && err == nil; i++ {
			copy(block, fmt.Sprintf("%08d", i))
			_, err = os.Stdout.Write(block)
		}
	case "lines": // lines:N,M prints N lines of lengths up to M, which the test can check
		a, b, _ := strings.Cut(arg, ",")
		count, _ := strconv.Atoi(a)
		longest, _ := strconv.Atoi(b)
		w := bufio.NewWriterSize(os.Stdout, 60000)
		for i := range count {
			length := (i * 7919) % (longest + 1)
			fmt.Fprintf(w, "%s %d %d ", p.rank, i, length)
			for k := 0; k < length; k += 50 {
				w.WriteString("abcdefghijklmnopqrstuvwxyz0123456789.,-;:_!?+*#()[]"[:min(50, length-k)])
			}
			w.WriteByte('\n')
		}
		err = w.Flush()
	default:
		err = fmt.Errorf("unknown step %q", verb)
	}
	p.check(err)
}
