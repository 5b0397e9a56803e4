package frame

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
)

// Frames come out of a stream as they went in, however it is cut.
func TestFramesSurviveAnyCut(t *testing.T) {
	var stream []byte
	long := bytes.Repeat([]byte("0123456789"), 5000)
	stream = append(stream, New(1).Bytes()...)
	stream = append(stream, New(200).U8(9).U16(65535).U32(1<<31).Text("tëxt").Words([]string{"", "a", string(long)}).Rest("end").Bytes()...)
	stream = append(stream, New(3).Raw(long).Bytes()...)
	for name, source := range map[string]io.Reader{
		"whole":     bytes.NewReader(stream),
		"bytes":     iotest.OneByteReader(bytes.NewReader(stream)),
		"halves":    iotest.HalfReader(bytes.NewReader(stream)),
		"eof early": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		r := Reader{Source: source, Limit: len(stream)}
		if k, b, err := r.Next(); k != 1 || len(b) != 0 || err != nil {
			t.Fatalf("%s: frame %d of %d bytes, %v", name, k, len(b), err)
		}
		k, b, err := r.Next()
		body := Body{Left: b}
		if k != 200 || err != nil || body.U8() != 9 || body.U16() != 65535 || body.U32() != 1<<31 || body.Text() != "tëxt" ||
			!reflect.DeepEqual(body.Words(), []string{"", "a", string(long)}) || string(body.Take(3)) != "end" || !body.Done() {
			t.Fatalf("%s: frame %d, %+v, %v", name, k, body, err)
		}
		if k, b, err := r.Next(); k != 3 || !bytes.Equal(b, long) || err != nil {
			t.Fatalf("%s: frame %d of %d bytes, %v", name, k, len(b), err)
		}
		if _, _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%s: at the end: %v", name, err)
		}
	}
}

// Lengths that a stream announces are checked, both of a frame and of a list in it.
func TestLengthsAreBounded(t *testing.T) {
	for _, b := range [][]byte{{0, 0, 0, 0, 1}, {0xff, 0xff, 0xff, 0xff, 1}, New(1).Raw(make([]byte, 100)).Bytes()} {
		if _, _, err := (&Reader{Source: bytes.NewReader(b), Limit: 100}).Next(); err == nil {
			t.Errorf("%x is a frame", b[:5])
		}
	}
	for _, b := range [][]byte{{0xff, 0xff, 0xff, 0xff}, {1, 0, 0, 0, 5, 0, 0, 0, 1}} {
		if body := (Body{Left: b}); body.Words() != nil && !body.Bad {
			t.Errorf("%x is a list", b)
		}
	}
	if body := (Body{Left: []byte{5, 0, 'a'}}); body.Text() != "" || !body.Bad {
		t.Error("a text longer than its frame was taken")
	}
}

func FuzzCut(f *testing.F) {
	f.Add(New(7).Text("x").Bytes())
	f.Add([]byte{0xff, 0xff, 0xff, 0x7f, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1000
		for {
			k, body, n, err := Cut(b, limit)
			if err != nil || n == 0 {
				return
			}
			if n > len(b) || n != len(body)+HeadSize || n > limit+4 {
				t.Fatalf("frame of %d bytes with a body of %d out of %d", n, len(body), len(b))
			}
			if again := New(k).Raw(body).Bytes(); !bytes.Equal(again, b[:n]) {
				t.Fatalf("%x encodes to %x", b[:n], again)
			}
			(&Body{Left: body}).Words()
			b = b[n:]
		}
	})
}
