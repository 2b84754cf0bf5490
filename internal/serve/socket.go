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
	"syscall"
)

// maxConns is how many connections a socket has at a time.
const maxConns = 64

// ListenUnix makes a Unix socket that its owner alone can open. It replaces one that a
// server has left, which nobody answers at.
func ListenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if err := left(path, info); err != nil {
			return nil, err
		}
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
	info, err := os.Lstat(inside)
	if err := errors.Join(err, os.Chmod(inside, 0o600), os.Rename(inside, path)); err != nil {
		l.Close()
		os.Remove(inside)
		return nil, err
	}
	return &socket{l, path, info}, nil
}

// left returns why what is at a path is not a socket that a server of this user has left.
func left(path string, info os.FileInfo) error {
	if info.Mode() != os.ModeSocket|0o600 || !owned(info) {
		return fmt.Errorf("%s is there already, and no socket of a server of yours; take it away, or name another socket", path)
	}
	conn, err := net.Dial("unix", path)
	switch {
	case err == nil:
		conn.Close()
		return fmt.Errorf("a server answers at %s; stop it, or name another socket", path)
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist):
		return nil
	}
	return fmt.Errorf("%s is there already, and may be that of a server: %w; take it away, or name another socket", path, err)
}

// socket is removed when it is closed.
type socket struct {
	*net.UnixListener
	path string
	info os.FileInfo
}

// Close ends it, and removes it where its path is still its own: while it is open, no
// other file can have its place on the disk.
func (s *socket) Close() error {
	var err error
	if now, gone := os.Lstat(s.path); gone == nil && os.SameFile(now, s.info) {
		err = os.Remove(s.path)
	}
	return errors.Join(err, s.UnixListener.Close())
}

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
