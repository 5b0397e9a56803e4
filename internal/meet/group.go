package meet

import (
	"encoding/binary"
	"errors"

	"github.com/halo-mpi/halo/internal/address"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/frame"
	"github.com/halo-mpi/halo/internal/proc"
)

// What members tell their root, and roots tell each other, as bytes.

// place describes where this process listens. from is the address of a process on another host that is to
// reach it, or nil.
func (m *meeting) place(from address.IP) []byte {
	b := make([]byte, placeSize)
	f, err := m.e.far()
	if err == nil {
		m.addr, err = f.Place(from)
	}
	addr, host := m.addr, hostName(m.e.p)
	switch {
	case err != nil:
		b[0] = noPlace
		copy(b[1:], err.Error())
	case 2+len(addr) > placeSize:
		b[0] = noPlace
		copy(b[1:], "an address of too many bytes: "+addr)
	default:
		b[0], b[1] = byte(len(addr)), byte(min(len(host), placeSize-2-len(addr)))
		copy(b[2:], addr)
		copy(b[2+len(addr):], host)
	}
	return b
}

// hostName is the name of this host.
func hostName(p *proc.Proc) string {
	j := p.Job()
	if len(j.Host) > j.Rank && int(j.Host[j.Rank]) < len(j.Hosts) {
		return j.Hosts[j.Host[j.Rank]]
	}
	return "localhost"
}

// placeError returns the error of a member that cannot be reached.
func (m *meeting) placeError() error {
	for r := range m.local.Size() {
		if b := m.places[r*placeSize : (r+1)*placeSize]; b[0] == noPlace {
			return class.Errorf(class.Other, "rank %d: %s", r, callsite.Printable(trim(b[1:])))
		}
	}
	return nil
}

// listenFor has the members listen where a process of the other group on another host reaches them, and tell
// where, if there is one and some of them listen on the loopback address. from is the address of one, or nil;
// otherwise it is the other root.
func (m *meeting) listenFor(from address.IP) error {
	if len(from) != 4 && len(from) != 16 || from.Loopback() {
		from = m.stream.Remote()
	}
	if from == nil {
		return nil
	}
	for r := range m.local.Size() {
		addr, _, err := decodePlace(m.places[r*placeSize : (r+1)*placeSize])
		if err != nil {
			return err
		}
		if !local(addr) {
			continue
		}
		if _, _, err := m.tell(toldHost, from); err != nil {
			return err
		}
		if err := m.collect(from); err != nil {
			return err
		}
		return m.placeError()
	}
	return nil
}

// beyond returns the first address of places that processes of other hosts reach, nil if there is none.
func beyond(places []string) address.IP {
	for _, p := range places {
		if ip, _, err := address.Split(p); err == nil && !ip.Loopback() {
			return ip
		}
	}
	return nil
}

// local reports whether only processes of the same host reach an address.
func local(addr string) bool {
	ip, _, err := address.Split(addr)
	return err == nil && ip.Loopback()
}

func trim(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			return b[:i]
		}
	}
	return b
}

// decodePlace returns what place has described.
func decodePlace(b []byte) (addr, host string, err error) {
	a, h := int(b[0]), int(b[1])
	if 2+a+h > len(b) {
		return "", "", class.Errorf(class.Intern, "a place of %d and %d bytes", a, h)
	}
	addr, host = string(b[2:2+a]), string(b[2+a:2+a+h])
	if _, _, err := address.Split(addr); err != nil {
		return "", "", class.Errorf(class.Intern, "a process that listens nowhere: %v", err)
	}
	return addr, callsite.Printable([]byte(host)), nil
}

// describe is the body of kindGroup: the version of the protocol, the secret, the serial number of the
// context and the rank of the root, and the members.
func (m *meeting) describe() []byte {
	le := binary.LittleEndian
	w := frame.New(kindGroup).U32(protocol).Raw(m.secret[:])
	w.Raw(le.AppendUint64(nil, m.serial)).U32(uint32(m.root))
	m.e.p.Lock()
	ids := m.e.p.AppendIDs(nil, m.local.Members)
	m.e.p.Unlock()
	return w.U32(uint32(len(ids))).Raw(ids).Raw(m.places).Bytes()
}

// A member is a process of the other group.
type member struct {
	id         proc.ID
	addr, host string
}

// decodeGroup decodes the body of kindGroup.
func decodeGroup(b []byte) (all []member, serial uint64, root int, err error) {
	r := frame.Body{Left: b}
	r.U32()
	r.Take(32)
	if s := r.Take(8); len(s) == 8 {
		serial = binary.LittleEndian.Uint64(s)
	}
	root = int(r.U32())
	ids, err := proc.DecodeIDs(r.Take(int(min(r.U32(), groupMax))))
	if err != nil {
		return nil, 0, 0, class.Errorf(class.Intern, "the other group: %v", err)
	}
	if r.Bad || len(ids) == 0 || len(r.Left) != placeSize*len(ids) || root >= len(ids) {
		return nil, 0, 0, class.Errorf(class.Intern, "the other group of %d processes, root %d, in %d bytes", len(ids), root, len(b))
	}
	for i, id := range ids {
		m := member{id: id}
		m.addr, m.host, err = decodePlace(r.Left[i*placeSize : (i+1)*placeSize])
		if err != nil {
			return nil, 0, 0, err
		}
		all = append(all, m)
	}
	return all, serial, root, nil
}

// encodeVerdict describes an error, nil for none.
func encodeVerdict(err error) []byte {
	b := make([]byte, verdictSize)
	if err == nil {
		return b
	}
	told := class.Other
	var ce *class.Error
	if errors.As(err, &ce) {
		told = ce.Class
	}
	binary.LittleEndian.PutUint32(b, uint32(told))
	copy(b[4:], err.Error())
	return b
}

func decodeVerdict(b []byte) error {
	if len(b) != verdictSize {
		return class.Errorf(class.Intern, "a verdict of %d bytes", len(b))
	}
	told := class.Class(binary.LittleEndian.Uint32(b))
	if told == 0 {
		return nil
	}
	if name, _ := class.Describe(told); name == "" {
		told = class.Other
	}
	return &class.Error{Class: told, Text: callsite.Printable(trim(b[4:]))}
}
