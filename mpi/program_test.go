package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// programVariable names the program that this test binary has to run.
const programVariable = "HALO_TEST_PROGRAM"

// runProgram runs one of the programs about the state of a process.
func runProgram(name string) {
	run, found := programs()[name]
	if !found {
		run = linuxPrograms[name]
	}
	if err := run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// linuxPrograms are the programs in files for Linux.
var linuxPrograms = map[string]func() error{}

// programs are those that need a separate process, since Init and Finalize happen once in a
// process.
func programs() map[string]func() error {
	return map[string]func() error{
		"lifecycle":  lifecycle,
		"fatal":      fatal,
		"fatalnone":  fatalNone,
		"fatalearly": mpi.Finalize,
		"finalizing": finalizing,
		"splits":     splitsProgram,
		"endless":    endlessProgram,
		"files":      differentFilesProgram,
		"abortingop": abortingOperation,
		"main": func() error {
			mpi.Main(func(world *mpi.Comm) error {
				fmt.Println("rank", world.Rank(), "of", world.Size())
				return nil
			})
			return nil
		},
		"failing": func() error {
			mpi.Main(func(world *mpi.Comm) error { return errors.New("no wind today") })
			return nil
		},
		"aborting": func() error {
			mpi.Main(func(world *mpi.Comm) error {
				world.Abort(7)
				return nil
			})
			return nil
		},
		"aborting well": func() error {
			mpi.Main(func(world *mpi.Comm) error {
				world.Abort(0)
				return nil
			})
			return nil
		},
	}
}

// program runs a program in a separate process.
func program(t *testing.T, name string) (stdout, stderr string, status int) {
	t.Helper()
	exe, err := os.Executable()
	ok(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), programVariable+"="+name)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// says returns an error unless err has the class and the words.
func says(err error, class mpi.Class, words ...string) error {
	for _, w := range words {
		if !errors.Is(err, class) || !strings.Contains(err.Error(), w) {
			return fmt.Errorf("error is %v, want %q of class %v", err, words, class)
		}
	}
	return nil
}

// expect returns an error unless err has the class and the text.
func expect(err error, class mpi.Class, text string) error {
	if !errors.Is(err, class) || err.Error() != text {
		return fmt.Errorf("error is\n\t%v\nwant\n\t%s", err, text)
	}
	return nil
}

// lifecycle goes through the states of a process.
func lifecycle() error {
	if mpi.Initialized() || mpi.Finalized() {
		return errors.New("initialised before Init")
	}
	if v, s := mpi.GetVersion(); v != mpi.Version || s != mpi.Subversion { // before Init
		return fmt.Errorf("version %d.%d", v, s)
	}
	if err := expect(mpi.Finalize(), mpi.ErrOther, "mpi: Finalize: called before Init (MPI_ERR_OTHER)"); err != nil {
		return err
	}
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	if !mpi.Initialized() || mpi.Finalized() {
		return errors.New("not initialised after Init")
	}
	if world.Rank() != 0 || world.Size() != 1 {
		return fmt.Errorf("rank %d of %d without a launcher, want a world of one", world.Rank(), world.Size())
	}
	_, err = mpi.Init()
	if err := expect(err, mpi.ErrOther, "mpi: Init: already initialised: Init may be called once in a process (MPI_ERR_OTHER)"); err != nil {
		return err
	}

	// Finalize with pending requests is an error and does nothing.
	r := mpi.Irecv(world, make([]byte, 4), 0, 1)
	if err := expect(mpi.Finalize(), mpi.ErrPending, "mpi: Finalize on world: 1 receive is still posted: on world from 0 tag 1 (MPI_ERR_PENDING)"); err != nil {
		return err
	}
	if mpi.Finalized() {
		return errors.New("finalized though Finalize has failed")
	}
	if err := mpi.Send(world, []byte{1}, 0, 1); err != nil {
		return err
	}
	if _, err := r.Wait(); err != nil {
		return err
	}
	s := mpi.Issend(world, []byte{1}, 0, 2)
	if err := expect(mpi.Finalize(), mpi.ErrPending, "mpi: Finalize on world: 1 send is not complete (MPI_ERR_PENDING)"); err != nil {
		return err
	}
	if _, err := mpi.Recv(world, make([]byte, 1), 0, 2); err != nil {
		return err
	}
	if _, err := s.Wait(); err != nil {
		return err
	}

	dup, err := world.Dup()
	if err != nil {
		return err
	}
	idle := mpi.RecvInit(world, make([]byte, 1), 0, 0)
	if err := mpi.Finalize(); err != nil {
		return err
	}
	if !mpi.Initialized() || !mpi.Finalized() {
		return errors.New("not finalized after Finalize")
	}
	if v, _ := mpi.GetVersion(); v != mpi.Version { // after Finalize
		return errors.New("no version after Finalize")
	}
	if err := expect(mpi.Finalize(), mpi.ErrOther, "mpi: Finalize: called twice (MPI_ERR_OTHER)"); err != nil {
		return err
	}
	if _, err := mpi.Init(); !errors.Is(err, mpi.ErrOther) {
		return fmt.Errorf("Init after Finalize: %v", err)
	}
	return afterFinalize(world, dup, idle)
}

// afterFinalize checks that every kind of call returns the error that it comes after Finalize.
func afterFinalize(world, dup *mpi.Comm, idle mpi.Request) error {
	b := []byte{0}
	wait := func(r mpi.Request) error {
		_, err := r.Wait()
		return err
	}
	last := func(_ any, err error) error { return err }
	probe := func(_ mpi.Status, _ bool, err error) error { return err }
	for name, err := range map[string]error{
		"Send":            mpi.Send(world, b, 0, 0),
		"Ssend":           mpi.Ssend(world, b, 0, 0),
		"Bsend":           mpi.Bsend(world, b, 0, 0),
		"Rsend":           mpi.Rsend(world, b, 0, 0),
		"Isend":           wait(mpi.Isend(world, b, 0, 0)),
		"SendInit":        wait(mpi.SendInit(world, b, 0, 0)),
		"Recv":            last(mpi.Recv(dup, b, 0, 0)),
		"Irecv":           wait(mpi.Irecv(dup, b, 0, 0)),
		"RecvInit":        wait(mpi.RecvInit(dup, b, 0, 0)),
		"Sendrecv":        last(mpi.Sendrecv(world, b, 0, 0, b, 0, 0)),
		"Probe":           last(world.Probe(0, 0)),
		"Iprobe":          probe(world.Iprobe(0, 0)),
		"BufferAttach":    mpi.BufferAttach(world, nil),
		"IbufferFlush":    wait(mpi.IbufferFlush(world)),
		"Barrier":         world.Barrier(),
		"Dup":             last(world.Dup()),
		"Split":           last(world.Split(0, 0)),
		"Free":            dup.Free(),
		"Compare":         last(world.Compare(dup)),
		"Start":           idle.Start(),
		"Allreduce":       mpi.Allreduce(world, b, b, mpi.Max),
		"SendrecvReplace": last(mpi.SendrecvReplace(world, b, 0, 0, 0, 0)),
	} {
		if !errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "called after Finalize") {
			return fmt.Errorf("%s after Finalize: %v", name, err)
		}
	}
	return nil
}

func TestENV06_LifeCycle(t *testing.T) {
	if out, errs, status := program(t, "lifecycle"); status != 0 {
		t.Fatalf("status %d\n%s%s", status, out, errs)
	}
}

func TestENV07_MainFailureAndAbort(t *testing.T) {
	out, errs, status := program(t, "main")
	if out != "rank 0 of 1\n" || errs != "" || status != 0 {
		t.Errorf("Main: %q, %q, status %d", out, errs, status)
	}
	_, errs, status = program(t, "failing")
	if errs != "rank 0: no wind today\n" || status != 1 {
		t.Errorf("failing Main: %q, status %d", errs, status)
	}
	_, _, status = program(t, "aborting")
	if status != 7 {
		t.Errorf("Abort(7): status %d", status)
	}
	_, _, status = program(t, "aborting well")
	if status != 0 {
		t.Errorf("Abort(0): status %d", status)
	}
}

// Calls that are allowed at any time may be made by many goroutines at the same time (ENV-02,
// ENV-03).
func TestXINI01_EnquiriesAtAnyTime(t *testing.T) {
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 100 {
				if mpi.Initialized() || mpi.Finalized() {
					t.Error("initialised without Init")
				}
				if v, s := mpi.GetVersion(); v != mpi.Version || s != mpi.Subversion {
					t.Error("version")
				}
				if !strings.Contains(mpi.GetLibraryVersion(), "Halo") {
					t.Error("library version")
				}
				if mpi.QueryThread() != mpi.ThreadMultiple || !mpi.IsThreadMain() {
					t.Error("thread level")
				}
				if name := mpi.GetProcessorName(); name == "" || len(name) > 255 {
					t.Errorf("processor name %q", name)
				}
				if a, b := mpi.Wtime(), mpi.Wtime(); a < 0 || b < a || mpi.Wtick() <= 0 || mpi.Wtick() > 1e-3 {
					t.Error("clock")
				}
			}
		})
	}
	wg.Wait()
}
