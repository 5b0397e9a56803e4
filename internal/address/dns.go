package address

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Types of records in DNS messages.
const (
	recordA    = 1
	recordAAAA = 28
)

// errNoName is the error of a name that does not exist, as a DNS server says.
var errNoName = errors.New("no such name")

// query returns a DNS message that asks for the records of a type of a name, and its number.
func query(name string, kind uint16) (packet []byte, id uint16, err error) {
	id = uint16(rand.Uint32())
	b := binary.BigEndian.AppendUint16(nil, id)
	b = append(b, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0) // recursion desired, one question
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 {
			return nil, 0, fmt.Errorf("%q is no host name", name)
		}
		b = append(append(b, byte(len(label))), label...)
	}
	if len(b) > 12+254 {
		return nil, 0, fmt.Errorf("%q is longer than a host name", name[:40])
	}
	b = append(b, 0)
	b = binary.BigEndian.AppendUint16(b, kind)
	return binary.BigEndian.AppendUint16(b, 1), id, nil
}

// answers returns the addresses in a DNS message that answers the question with a number.
func answers(b []byte, id, kind uint16) (list []IP, err error) {
	bad := fmt.Errorf("a DNS message of %d bytes makes no sense", len(b))
	if len(b) < 12 || binary.BigEndian.Uint16(b) != id || b[2]&0x80 == 0 {
		return nil, bad
	}
	switch code := b[3] & 15; {
	case code == 3:
		return nil, errNoName
	case code != 0:
		return nil, fmt.Errorf("the DNS server reports error %d", code)
	}
	questions, records := binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:])
	left := b[12:]
	skip := func(n int) bool { // a name, and n bytes
		for len(left) > 0 {
			l := int(left[0])
			switch {
			case l >= 0xc0: // the rest of the name is elsewhere
				n += 2
			case l == 0:
				n++
			case l < len(left):
				left = left[1+l:]
				continue
			default:
				return false
			}
			if n > len(left) {
				return false
			}
			left = left[n:]
			return true
		}
		return false
	}
	for range questions {
		if !skip(4) {
			return nil, bad
		}
	}
	for range records {
		if !skip(0) || len(left) < 10 {
			return nil, bad
		}
		size := int(binary.BigEndian.Uint16(left[8:]))
		if len(left) < 10+size {
			return nil, bad
		}
		if data := left[10 : 10+size]; binary.BigEndian.Uint16(left) == kind && (size == 4 || size == 16) {
			list = append(list, IP(data))
		}
		left = left[10+size:]
	}
	return list, nil
}
