package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// maxConns is how many connections a socket has at a time.
const maxConns = 64

// ListenUnix makes a Unix socket that its owner alone can open.
func ListenUnix(path string) (net.Listener, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s is there already; take it away, or name another socket", path)
	}
	// Nobody else can open it before it has its mode.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".socket")
	if err != nil {
		return nil, err
	}
	defer os.Remove(dir)
	inside := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: inside, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(inside, 0o600), os.Rename(inside, path)); err != nil {
		l.Close()
		os.Remove(inside)
		return nil, err
	}
	return &socket{l, path}, nil
}

// socket is removed when it is closed.
type socket struct {
	*net.UnixListener
	path string
}

// Close ends and removes it.
func (s *socket) Close() error { return errors.Join(s.UnixListener.Close(), os.Remove(s.path)) }

// ServeConns answers the connections of a listener until the context ends, which is the
// error then. What a client that is gone has asked for is cancelled.
func (s *Server) ServeConns(ctx context.Context, l net.Listener) error {
	end := sync.OnceValue(l.Close)
	defer context.AfterFunc(ctx, func() { end() })()
	var all sync.WaitGroup
	defer all.Wait()
	defer end() // and wait for it, so that the socket is gone
	room := make(chan struct{}, maxConns)
	for {
		conn, err := l.Accept()
		if err != nil {
			return cmp.Or(ctx.Err(), errors.Join(err, end()))
		}
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			defer conn.Close()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			s.Serve(ctx, &untilEnd{conn, cancel}, conn, s.Hello()) // the error is the client's
		})
	}
}

// untilEnd ends a context when a reader does.
type untilEnd struct {
	io.Reader
	end context.CancelFunc
}

// Read implements io.Reader.
func (r *untilEnd) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.end()
	}
	return n, err
}
