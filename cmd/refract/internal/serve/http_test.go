package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// overHTTP starts a server with the token "sesame" and a loopback address as Host.
func overHTTP(ctx context.Context, s *Server, l net.Listener) chan error {
	done := make(chan error, 1)
	go func() {
		done <- s.ServeHTTP(ctx, l, Web{Token: "sesame", Hosts: func(name string) bool { return name == "127.0.0.1" }})
	}()
	return done
}

// pipes is a listener in memory.
type pipes chan net.Conn

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (p pipes) Close() error {
	close(p)
	return nil
}

// Addr implements net.Listener.
func (pipes) Addr() net.Addr { return &net.UnixAddr{} }

// Thousands of idle connections keep nobody waiting: the oldest are closed for new ones, and
// the rest end soon.
func TestManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, s := make(pipes), echo()
		done := make(chan error, 1)
		go func() {
			done <- s.ServeHTTP(ctx, l, Web{Hosts: func(string) bool { return true }})
		}()
		const healthy = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
		ask := func(c net.Conn) {
			io.WriteString(c, healthy)
			if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != 200 {
				t.Error(resp, err)
			}
		}
		begun := time.Now()
		var idle []net.Conn
		for i := range 3000 {
			ours, theirs := net.Pipe()
			l <- theirs
			idle = append(idle, ours)
			if i%1000 == 999 {
				late, theirs := net.Pipe()
				l <- theirs
				ask(late)
				late.Close()
			}
		}
		if d := time.Since(begun); d > 0 {
			t.Error("a request waited for", d)
		}
		synctest.Wait()
		open := 0
		for _, c := range idle {
			c.SetReadDeadline(time.Now())
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				open++
			}
		}
		if open > maxClientConns || open < maxClientConns/2 {
			t.Errorf("%d are open", open)
		}
		time.Sleep(headerTime + time.Second)
		for _, c := range idle {
			c.SetReadDeadline(time.Time{})
			_, err := io.ReadAll(c)
			require.NoError(t, err)
		}
		stop()
		<-done
	})
}

// A client that stalls is cut off and blocks no other client. Waiting for room does not use up
// a client's time.
func TestStalling(t *testing.T) {
	const head = "POST /v1/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sesame\r\nContent-Length: 20000\r\n\r\n"
	read := func(conn net.Conn) (status int, body string) {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0, err.Error()
		}
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	for name, client := range map[string]func(t *testing.T, s *Server, conn net.Conn){
		"a head without an end": func(t *testing.T, _ *Server, conn net.Conn) {
			io.WriteString(conn, "POST /v1/echo HTTP/1.1\r\nHost:")
			begun := time.Now()
			if status, body := read(conn); time.Since(begun) != headerTime {
				t.Error(status, body, time.Since(begun))
			}
		},
		"a body without an end": func(t *testing.T, _ *Server, conn net.Conn) {
			fmt.Fprintf(conn, head, "echo")
			begun := time.Now()
			if status, body := read(conn); status != 408 || time.Since(begun) != beginTime {
				t.Error(status, body, time.Since(begun))
			}
		},
		"a body in drops": func(t *testing.T, _ *Server, conn net.Conn) {
			fmt.Fprintf(conn, head, "echo")
			begun := time.Now()
			go func() {
				for {
					if _, err := io.WriteString(conn, "0"); err != nil {
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			}()
			if status, body := read(conn); status != 408 || time.Since(begun) > beginTime+time.Second {
				t.Error(status, body, time.Since(begun))
			}
			conn.Close()
			time.Sleep(time.Second) // time for its last write
		},
		"a body that is too long": func(t *testing.T, _ *Server, conn net.Conn) {
			io.WriteString(conn, strings.Replace(fmt.Sprintf(head, "echo"), "20000", fmt.Sprint(MaxLine+1), 1))
			begun := time.Now()
			if status, body := read(conn); status != 413 || time.Since(begun) > 0 {
				t.Error(status, body, time.Since(begun))
			}
		},
		"an answer that is not read": func(t *testing.T, s *Server, conn net.Conn) {
			fmt.Fprintf(conn, head+"%020000d", "echo", 0)
			synctest.Wait()
			if s.small.all.TryAcquire(maxSmall) {
				t.Error("the answer takes no room")
			}
			time.Sleep(bodyTime + time.Second)
			if status, body := read(conn); len(body) >= 20000 {
				t.Error(status, len(body))
			}
		},
		"a wait for room": func(t *testing.T, s *Server, conn net.Conn) {
			s.small.all.Acquire(t.Context(), maxSmall)
			s.small.last <- struct{}{}
			go fmt.Fprintf(conn, head+"%020000d", "echo", 0)
			time.Sleep(10 * bodyTime)
			<-s.small.last
			defer s.small.all.Release(maxSmall)
			if status, body := read(conn); status != 200 || len(body) != 20000 {
				t.Error(status, body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				l, s := make(pipes), echo()
				done := overHTTP(ctx, s, l)
				ours, theirs := net.Pipe()
				l <- theirs
				client(t, s, ours)
				ours.Close()
				synctest.Wait()
				if !s.small.all.TryAcquire(maxSmall) {
					t.Error("the request takes room still")
				}
				stop()
				<-done
			})
		})
	}
}

// Only arrived bytes count against the bound, not announced ones: clients that announce 64 MiB
// and send one byte keep nobody waiting.
func TestOnlyArrivedBytesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, s := make(pipes), echo()
		done := overHTTP(ctx, s, l)
		const head = "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sesame\r\nContent-Length: %d\r\n\r\n{"
		for range 2 * MaxPending {
			ours, theirs := net.Pipe()
			l <- theirs
			fmt.Fprintf(ours, head, MaxLine)
			go io.Copy(io.Discard, ours)
		}
		ours, theirs := net.Pipe()
		l <- theirs
		begun := time.Now()
		fmt.Fprintf(ours, head+"}", 2)
		if resp, err := http.ReadResponse(bufio.NewReader(ours), nil); err != nil || resp.StatusCode != 200 || time.Since(begun) > 0 {
			t.Error(resp, err, time.Since(begun))
		}
		ours.Close()
		time.Sleep(2 * bodyTime) // until the stalled clients are cut off
		stop()
		<-done
	})
}

// Long bodies that stall at their last byte take room from other long ones for seconds only,
// and none from short ones. The same client has all connections.
func TestStalledBodiesLockNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, s := make(pipes), echo()
		s.large = newBodyRoom(4 * smallBody)
		done := overHTTP(ctx, s, l)
		const size = smallBody + 1
		ask := func(size, sent int) (net.Conn, chan int) {
			ours, theirs := net.Pipe()
			l <- theirs
			status := make(chan int, 1)
			go func() {
				fmt.Fprintf(ours, "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sesame\r\nContent-Length: %d\r\n\r\n", size)
				ours.Write(make([]byte, sent))
			}()
			go func() {
				resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil {
					status <- 0
					return
				}
				io.Copy(io.Discard, resp.Body)
				status <- resp.StatusCode
			}()
			return ours, status
		}
		var stalled []net.Conn
		for range 8 {
			conn, _ := ask(size, size-1)
			stalled = append(stalled, conn)
		}
		synctest.Wait()
		begun := time.Now()
		short, got := ask(1<<20, 1<<20)
		if status := <-got; status != 200 || time.Since(begun) > 0 {
			t.Error("a short request", status, time.Since(begun))
		}
		long, got := ask(size, size)
		if status := <-got; status != 200 || time.Since(begun) > bodyTime {
			t.Error("a long request", status, time.Since(begun))
		}
		for _, conn := range append(stalled, short, long) {
			conn.Close()
		}
		synctest.Wait()
		if !s.large.all.TryAcquire(4*smallBody) || !s.small.all.TryAcquire(maxSmall) {
			t.Error("a request takes room still")
		}
		stop()
		<-done
	})
}

// Bodies that together exceed the bound are finished one after the other.
func TestPartialBodiesFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, s := make(pipes), echo()
		s.small = newBodyRoom(10_000)
		done := overHTTP(ctx, s, l)
		const size = 8000
		var all sync.WaitGroup
		for range 5 {
			ours, theirs := net.Pipe()
			l <- theirs
			all.Go(func() {
				fmt.Fprintf(ours, "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sesame\r\nContent-Length: %d\r\n\r\n", size)
				for range size / 1000 {
					fmt.Fprintf(ours, "%01000d", 0)
					time.Sleep(time.Second)
				}
			})
			all.Go(func() {
				resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil || resp.StatusCode != 200 {
					t.Error(resp, err)
				}
				io.Copy(io.Discard, resp.Body)
				ours.Close()
			})
		}
		all.Wait()
		synctest.Wait()
		if !s.small.all.TryAcquire(10_000) {
			t.Error("a request takes room still")
		}
		stop()
		<-done
	})
}
