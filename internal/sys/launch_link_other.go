//go:build !unix

package sys

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// A Link does not exist on this platform.
type Link struct{}

func noLink() error {
	return fmt.Errorf("links between launcher and program on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// SocketInode is not supported on this platform.
func SocketInode(int) (uint64, error) { return 0, noLink() }

// LinkPair is not supported on this platform.
func LinkPair() (*Link, *os.File, error) { return nil, nil, noLink() }

// NewLink is not supported on this platform.
func NewLink(int) (*Link, error) { return nil, noLink() }

// PeerEnded is always false where there are no links.
func (*Link) PeerEnded() bool { return false }

// Read is not supported on this platform.
func (*Link) Read([]byte) (int, []*os.File, error) { return 0, nil, noLink() }

// Write is not supported on this platform.
func (*Link) Write([]byte, *os.File) error { return noLink() }

// Expire is not supported on this platform.
func (*Link) Expire() {}

// Close is not supported on this platform.
func (*Link) Close() error { return noLink() }

// LinkReset is always false where there are no links.
func LinkReset(error) bool { return false }

// Inherit is not supported on this platform.
func Inherit(*os.File) (int, error) { return -1, noLink() }

// OwnGroup is nothing on this platform.
func OwnGroup() *syscall.SysProcAttr { return nil }
