package wire

import (
	"bytes"
	"strings"
	"testing"
)

func samples() ([]string, []Header) {
	return []string{"put", "accumulate", "notify", "eager", "extremes", "smallest"}, []Header{
		{Size: 4096, Kind: WinPut, Ctx: 0x0001000000000040, Arg: 0x0000c00012345678},
		{Size: 40, Kind: WinAcc, Flags: WithResult, Ctx: 0x0001000000000040, Tag: 1, Aux: 0x00000b01, Arg: 0x18, Name: 0x0000000700000003},
		{Size: 72, Kind: WinPut, Flags: ThenNotify, Chan: 3, Ctx: 0x0001000000000040, Tag: -0x010c<<16 | 1, Arg: 0x18},
		{Size: 8, Kind: Eager, Flags: 1, Chan: 2, Ctx: 0x0102030405060708, Tag: -2, Aux: 0x11121314, Arg: 0x2122232425262728, Name: 0x3132333435363738},
		{Size: MaxPayload, Kind: User, Flags: 255, Chan: 0xffff, Ctx: ^uint64(0), Tag: -1 << 31, Aux: ^uint32(0), Arg: ^uint64(0), Name: ^uint64(0)},
		{Kind: Eager},
	}
}

func TestHeaderLayoutIsGolden(t *testing.T) {
	names, hs := samples()
	var values [][]byte
	for _, h := range hs {
		b := make([]byte, HeaderSize)
		h.Encode(b)
		values = append(values, b)
		var back Header
		if err := back.Decode(b); err != nil || back != h {
			t.Errorf("%+v came back as %+v, %v", h, back, err)
		}
	}
	golden(t, "header.golden", names, values)
}

// The numbers of the kinds are part of the frame layout.
func TestKindsAreGolden(t *testing.T) {
	var names []string
	var values [][]byte
	for i, name := range []string{"Eager", "EagerSync", "Ready", "Clear", "Data", "Ack", "Credit", "Check", "WinPut", "WinGet", "WinAcc", "WinCas",
		"WinReply", "WinFlush", "WinDone", "WinLock", "WinGrant", "WinUnlock", "WinPost", "WinComplete", "WinNotify", "WinSpan", "WinFault", "WinCheck", "WinLeave", "WinEpoch", "Revoke", "Revoked", "Assist",
		"PartInit", "PartMatch", "PartStart", "PartData", "PartFail", "Leave", "User"} {
		k := []Kind{Eager, EagerSync, Ready, Clear, Data, Ack, Credit, Check, WinPut, WinGet, WinAcc, WinCas,
			WinReply, WinFlush, WinDone, WinLock, WinGrant, WinUnlock, WinPost, WinComplete, WinNotify, WinSpan, WinFault, WinCheck, WinLeave, WinEpoch, Revoke, Revoked, Assist,
			PartInit, PartMatch, PartStart, PartData, PartFail, Leave, User}[i]
		names, values = append(names, name), append(values, []byte{byte(k)})
		if want := strings.HasPrefix(name, "Win"); k.OneSided() != want {
			t.Errorf("kind %s is one-sided: %v", name, !want)
		}
		if want := strings.HasPrefix(name, "Part"); k.Partitioned() != want {
			t.Errorf("kind %s is partitioned: %v", name, !want)
		}
	}
	if len(names) != int(User) || User.OneSided() || Kind(0).OneSided() || Kind(0xff).OneSided() || Kind(0).Partitioned() || Kind(0xff).Partitioned() {
		t.Errorf("%d kinds are listed, the last one is %d", len(names), User)
	}
	golden(t, "kinds.golden", names, values)
}

func TestImpossibleHeadersAreRefused(t *testing.T) {
	for _, h := range []Header{{}, {Size: 8}, {Kind: Eager, Size: MaxPayload + 1}, {Kind: Eager, Size: ^uint32(0)}, {Kind: User + 1}, {Kind: 0x7f}, {Kind: 0xff}} {
		var b [HeaderSize]byte
		h.Encode(b[:])
		var back Header
		if back.Decode(b[:]) == nil {
			t.Errorf("%+v was taken", h)
		}
	}
	var h Header
	if h.Decode(make([]byte, HeaderSize-1)) == nil {
		t.Error("half a header was taken")
	}
}

func FuzzHeader(f *testing.F) {
	_, hs := samples()
	for _, h := range hs {
		b := make([]byte, HeaderSize)
		h.Encode(b)
		f.Add(b)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		if h.Decode(b) != nil {
			return
		}
		if h.Size > MaxPayload || h.Kind < Eager || h.Kind > User {
			t.Fatalf("took %+v", h)
		}
		var again [HeaderSize]byte
		h.Encode(again[:])
		if !bytes.Equal(again[:], b[:HeaderSize]) {
			t.Fatalf("% x came back as % x", b[:HeaderSize], again)
		}
	})
}

// A counter and a number of runs share a word, and neither changes the other.
func TestCounterAndRunsShareTag(t *testing.T) {
	for _, runs := range []int{0, 1, 512, 0xffff} {
		for _, counter := range []int{0, 1, 0x7fff, 0x8000, 0xffff} {
			h := Header{Tag: int32(runs)}
			h.SetCounter(counter ^ 0x5555)
			h.SetCounter(counter)
			if h.Counter() != counter || h.Runs() != runs {
				t.Errorf("counter %d with %d runs came back as %d with %d", counter, runs, h.Counter(), h.Runs())
			}
		}
	}
}
