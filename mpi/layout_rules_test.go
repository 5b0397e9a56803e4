package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// persist starts a persistent request, waits for it and returns its error.
func persist(r mpi.Request) error {
	if err := r.Start(); err != nil {
		return err
	}
	return waited(r)
}

// sendsOf makes every point-to-point call that sends a Buffer, to the rank itself.
func sendsOf(c *mpi.Comm, b mpi.Buffer) map[string]error {
	me := c.Rank()
	return map[string]error{
		"Send": c.Send(b, me, 1), "Ssend": c.Ssend(b, me, 1), "Bsend": c.Bsend(b, me, 1), "Rsend": c.Rsend(b, me, 1),
		"Isend": waited(c.Isend(b, me, 1)), "Issend": waited(c.Issend(b, me, 1)),
		"Ibsend": waited(c.Ibsend(b, me, 1)), "Irsend": waited(c.Irsend(b, me, 1)),
		"SendInit": persist(c.SendInit(b, me, 1)), "SsendInit": persist(c.SsendInit(b, me, 1)),
		"BsendInit": persist(c.BsendInit(b, me, 1)), "RsendInit": persist(c.RsendInit(b, me, 1)),
		"Sendrecv":  second(c.Sendrecv(b, me, 1, mpi.Buffer{}, me, 1)),
		"Isendrecv": waited(c.Isendrecv(b, me, 1, mpi.Buffer{}, me, 1)),
	}
}

// recvsOf makes every point-to-point call that receives into a Buffer. m is a message that a
// matched probe has taken.
func recvsOf(c *mpi.Comm, m *mpi.Message, b mpi.Buffer) map[string]error {
	me := c.Rank()
	return map[string]error{
		"Recv": second(c.Recv(b, me, 1)), "Irecv": waited(c.Irecv(b, me, 1)), "RecvInit": persist(c.RecvInit(b, me, 1)),
		"Mrecv": second(m.Recv(b)), "Imrecv": waited(m.Irecv(b)),
		"Sendrecv":         second(c.Sendrecv(mpi.Buffer{}, me, 1, b, me, 1)),
		"Isendrecv":        waited(c.Isendrecv(mpi.Buffer{}, me, 1, b, me, 1)),
		"SendrecvReplace":  second(c.SendrecvReplace(b, me, 1, me, 1)),
		"IsendrecvReplace": waited(c.IsendrecvReplace(b, me, 1, me, 1)),
	}
}

// An invalid Buffer is an error of every call that uses it, with its class and the reason.
// Nothing is sent, and no message is lost (DT-13, DT-14).
func TestDT13_DT14_BuffersThatCannotBe(t *testing.T) {
	type labelled struct {
		N    int
		Name string
	}
	mpitest.Run(t, 1, func(t testing.TB, c *mpi.Comm) {
		int32s := typ(t)(mpi.TypeOf[int32]())
		vector := typ(t)(mpi.TypeVector(3, 1, 2, int32s)) // 20 bytes
		raw, err := mpi.TypeVector(3, 1, 2, int32s)
		ok(t, err)
		back := typ(t)(mpi.TypeVector(2, 1, -1, int32s))
		freed := typ(t)(vector.Dup())
		handle := freed
		ok(t, handle.Free())
		mem := make([]int32, 8)
		bad := []struct {
			b     mpi.Buffer
			class mpi.Class
			text  string
		}{
			{mpi.BufOf(mem, 1, mpi.DatatypeNull), mpi.ErrType, "datatype is null"},
			{mpi.BufOf(mem, 1, freed), mpi.ErrType, "datatype dup(vector(3 1 2 MPI_INT32_T)) has been freed"},
			{mpi.BufOf(mem, 1, raw), mpi.ErrType, "vector(3 1 2 MPI_INT32_T) is not committed"},
			{mpi.BufOf(mem, -1, vector), mpi.ErrCount, "count -1"},
			{mpi.BufOf(mem, 2, vector), mpi.ErrBuffer, "reach from byte 0 to 40 of a buffer of 32"},
			{mpi.BufOf(mem[:4], 1, vector), mpi.ErrBuffer, "reach from byte 0 to 20 of a buffer of 16"},
			{mpi.BufOf(mem, 1, back), mpi.ErrBuffer, "reach from byte -4 to 4 of a buffer of 32"},
			{mpi.BufAt(mem, 4, 1, vector), mpi.ErrBuffer, "reach from byte 16 to 36 of a buffer of 32"},
			{mpi.BufAt(mem, 9, 1, vector), mpi.ErrArg, "element 9 of a slice of 8"},
			{mpi.BufAt(mem, -1, 0, vector), mpi.ErrArg, "element -1 of a slice of 8"},
			{mpi.Buf([]string{"a"}), mpi.ErrType, "string"},
			{mpi.Buf([]labelled{{}}), mpi.ErrType, "labelled.Name is a string"},
			{mpi.BufOf([]*int32{nil}, 1, vector), mpi.ErrType, "ptr"},
		}
		ok(t, c.Send(mpi.Buf([]int32{1, 2, 3}), 0, 2))
		m, _, err := c.Mprobe(0, 2)
		ok(t, err)
		for _, x := range bad {
			for call, err := range sendsOf(c, x.b) {
				wantText(t, err, x.class, "mpi: "+call+" on world", x.text)
			}
			for call, err := range recvsOf(c, &m, x.b) {
				wantText(t, err, x.class, "mpi: "+call+" on world", x.text)
			}
		}
		// Data in which bytes occur twice may be sent, but not received into.
		twice := typ(t)(mpi.TypeVector(2, 1, 0, int32s))
		for call, err := range recvsOf(c, &m, mpi.BufOf(mem, 1, twice)) {
			wantText(t, err, mpi.ErrType, "mpi: "+call+" on world", "1 x vector(2 1 0 MPI_INT32_T)", "occur twice")
		}
		mem[0] = 7
		two := make([]int32, 2)
		st, err := c.Sendrecv(mpi.BufOf(mem, 1, twice), 0, 1, mpi.Buf(two), 0, 1)
		ok(t, err)
		if st.Bytes() != 8 || two[0] != 7 || two[1] != 7 {
			t.Errorf("of 7 sent twice %v has come in %d bytes", two, st.Bytes())
		}
		if st, found, err := c.Iprobe(mpi.AnySource, mpi.AnyTag); found || err != nil {
			t.Errorf("something has been sent: %+v, %v", st, err)
		}
		ok(t, second(m.Recv(mpi.BufOf(mem, 1, vector))))
		if mem[0] != 1 || mem[2] != 2 || mem[4] != 3 {
			t.Errorf("the message is now %v", mem)
		}
	})
}

// The zero Buffer is an empty message, like any Buffer without elements. Communication with
// ProcNull moves no data, with any Buffer.
func TestEmptyBuffers(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		vector := typ(t)(mpi.TypeVector(3, 1, 2, typ(t)(mpi.TypeOf[int32]())))
		mem := []int32{1, 2, 3, 4, 5}
		peer := 1 - c.Rank()
		for i, b := range []mpi.Buffer{{}, mpi.BufOf(mem, 0, vector), mpi.BufOf([]int32(nil), 0, vector), mpi.Buf([]struct{}{{}, {}}), mpi.Buf([]int8{})} {
			st, err := c.Sendrecv(b, peer, i, b, peer, i)
			ok(t, err)
			wantStatus(t, st, peer, i, 0)
			st, err = c.SendrecvReplace(b, peer, i, peer, i)
			ok(t, err)
			wantStatus(t, st, peer, i, 0)
		}
		full := mpi.BufOf(mem, 1, vector)
		ok(t, c.Send(full, mpi.ProcNull, 1))
		st, err := c.Recv(full, mpi.ProcNull, 1)
		ok(t, err)
		wantStatus(t, st, mpi.ProcNull, mpi.AnyTag, 0)
		for i, v := range mem {
			if int(v) != i+1 {
				t.Errorf("memory is now %v", mem)
			}
		}
	})
}
