//go:build unix

package pipe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long Serve waits for calls to end after the control socket is closed.
const patience = 10 * time.Second

// Serve answers calls on the connections that are sent over the control socket, an inherited file
// descriptor, until that is closed. Then it cancels the calls in progress and gives them some time
// to clean up. ErrBusy says that they took longer.
func Serve(ctx context.Context, descriptor int, handle Handler, kind func(error) string) (err error) {
	control, err := socket(descriptor)
	if err != nil {
		return fmt.Errorf("descriptor %d: %w", descriptor, err)
	}
	defer control.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { control.Close() })
	var calls sync.WaitGroup
	defer func() {
		cancel()
		ended := make(chan struct{})
		go func() { calls.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(patience):
			err = errors.Join(err, ErrBusy)
		}
	}()
	data, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	for {
		n, got, _, _, err := control.ReadMsgUnix(data, rights)
		if n == 0 || errors.Is(err, net.ErrClosed) {
			return nil // the other end is closed
		}
		if err != nil {
			return err
		}
		conn, err := received(rights[:got])
		if err != nil {
			return err
		}
		calls.Go(func() {
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			defer conn.Close()
			// The other end learns of an error on a connection when it is closed.
			_ = Answer(ctx, conn, handle, kind)
		})
	}
}

// received returns the socket in a control message.
func received(rights []byte) (*net.UnixConn, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, fmt.Errorf("%d control messages: want one", len(messages))
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	if len(descriptors) != 1 {
		return nil, fmt.Errorf("%d file descriptors: want one", len(descriptors))
	}
	return socket(descriptors[0])
}

// socket takes ownership of a file descriptor.
func socket(descriptor int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(descriptor), "socket")
	if f == nil {
		return nil, errors.New("no such file descriptor")
	}
	defer f.Close()
	conn, err := net.FileConn(f) // a duplicate that closes on exec
	if err != nil {
		return nil, err
	}
	u, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, errors.New("is not a Unix socket")
	}
	return u, nil
}
