package agree

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// What records and findings are on the wire is what package encoding/binary makes of their fields.
func TestRecordsAndFindingsOnTheWire(t *testing.T) {
	random := make([]byte, RecordSize+FindingSize)
	g := rand.New(rand.NewPCG(3, 4))
	for i := range random {
		random[i] = byte(g.Uint32())
	}
	clear(random[2:4]) // fields without a name
	clear(random[12:16])
	var x, wantX Record
	var f, wantF Finding
	for _, v := range []struct {
		b         []byte
		got, want any
		encode    func(b []byte)
		decode    func(b []byte)
	}{
		{random[:RecordSize], &x, &wantX, x.Encode, x.Decode},
		{random[RecordSize:], &f, &wantF, f.Encode, f.Decode},
	} {
		v.decode(v.b)
		if _, err := binary.Decode(v.b, binary.LittleEndian, v.want); err != nil {
			t.Fatal(err)
		}
		again := make([]byte, len(v.b))
		v.encode(again)
		if !bytes.Equal(again, v.b) {
			t.Errorf("%T: encoded is not what was decoded", v.got)
		}
	}
	if x != wantX || f != wantF {
		t.Error("other fields are decoded")
	}
}
