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
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// web is a server over HTTP with the token "sesame" and a loopback address as Host.
type web struct {
	*Server
	l    pipes
	done chan error
}

// inWeb runs a test with a server, in a bubble whose clock runs as fast as it can.
func inWeb(t *testing.T, test func(t *testing.T, w *web)) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{Server: echo(), l: make(pipes), done: make(chan error, 1)}
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			w.done <- w.ServeHTTP(ctx, w.l, Web{Token: "sesame", Hosts: func(name string) bool { return name == "127.0.0.1" }})
		}()
		test(t, w)
		synctest.Wait()
		if !w.small.all.TryAcquire(w.small.most*2) || !w.large.all.TryAcquire(w.large.most*2) {
			t.Error("a request takes room still")
		}
		stop()
		<-w.done
	})
}

func (w *web) dial() net.Conn {
	ours, theirs := net.Pipe()
	w.l <- theirs
	return ours
}

// head begins a request with a body of some length.
const head = "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sesame\r\nContent-Length: %d\r\n\r\n"

// read reads an answer, whose status is 0 where there is none.
func read(conn net.Conn) (status int, body string) {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
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
	inWeb(t, func(t *testing.T, w *web) {
		begun := time.Now()
		var idle []net.Conn
		for i := range 3000 {
			idle = append(idle, w.dial())
			if i%1000 == 999 {
				late := w.dial()
				io.WriteString(late, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
				status, body := read(late)
				assert.Equal(t, 200, status, "%v %v", status, body)
				late.Close()
			}
		}
		d := time.Since(begun)
		assert.True(t, d == 0, "a request waited for %v", d)
		synctest.Wait()
		open := 0
		for _, c := range idle {
			c.SetReadDeadline(time.Now())
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				open++
			}
		}
		assert.True(t, open <= maxClientConns && open >= maxClientConns/2, "%d are open", open)
		time.Sleep(headerTime + time.Second)
		for _, c := range idle {
			c.SetReadDeadline(time.Time{})
			_, err := io.ReadAll(c)
			require.NoError(t, err)
		}
	})
}

// A client that stalls is cut off and blocks no other client. Waiting for room does not use up
// a client's time.
func TestStalling(t *testing.T) {
	const size = 20000
	for name, client := range map[string]func(t *testing.T, w *web, conn net.Conn){
		"a head without an end": func(t *testing.T, _ *web, conn net.Conn) {
			io.WriteString(conn, "POST /v1/echo HTTP/1.1\r\nHost:")
			begun := time.Now()
			status, body := read(conn)
			assert.Equal(t, headerTime, time.Since(begun), "%v %v %v", status, body, time.Since(begun))
		},
		"a body without an end": func(t *testing.T, _ *web, conn net.Conn) {
			fmt.Fprintf(conn, head, size)
			begun := time.Now()
			status, body := read(conn)
			assert.True(t, status == 408 && time.Since(begun) == beginTime, "%v %v %v", status, body, time.Since(begun))
		},
		"a body in drops": func(t *testing.T, _ *web, conn net.Conn) {
			fmt.Fprintf(conn, head, size)
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
		"a body that is too long": func(t *testing.T, _ *web, conn net.Conn) {
			fmt.Fprintf(conn, head, MaxLine+1)
			begun := time.Now()
			status, body := read(conn)
			assert.True(t, status == 413 && time.Since(begun) == 0, "%v %v %v", status, body, time.Since(begun))
		},
		"an answer that is not read": func(t *testing.T, w *web, conn net.Conn) {
			fmt.Fprintf(conn, head+"%0*d", size, size, 0)
			synctest.Wait()
			assert.False(t, w.small.all.TryAcquire(maxSmall), "the answer takes no room")
			time.Sleep(bodyTime + time.Second)
			status, body := read(conn)
			assert.True(t, len(body) < size, "%v %v", status, len(body))
		},
		"a wait for room": func(t *testing.T, w *web, conn net.Conn) {
			w.small.all.Acquire(t.Context(), maxSmall)
			w.small.last <- struct{}{}
			go fmt.Fprintf(conn, head+"%0*d", size, size, 0)
			time.Sleep(10 * bodyTime)
			<-w.small.last
			defer w.small.all.Release(maxSmall)
			status, body := read(conn)
			assert.True(t, status == 200 && len(body) == size, "%v %v", status, body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWeb(t, func(t *testing.T, w *web) {
				conn := w.dial()
				defer conn.Close()
				client(t, w, conn)
			})
		})
	}
}

// Only arrived bytes count against the bound, not announced ones: clients that announce 64 MiB
// and send one byte keep nobody waiting.
func TestOnlyArrivedBytesCount(t *testing.T) {
	inWeb(t, func(t *testing.T, w *web) {
		for range 2 * MaxPending {
			conn := w.dial()
			fmt.Fprintf(conn, head+"{", MaxLine)
			go io.Copy(io.Discard, conn)
		}
		conn := w.dial()
		begun := time.Now()
		fmt.Fprintf(conn, head+"{}", 2)
		status, body := read(conn)
		assert.True(t, status == 200 && time.Since(begun) == 0, "%v %v %v", status, body, time.Since(begun))
		conn.Close()
		time.Sleep(2 * bodyTime) // until the stalled clients are cut off
	})
}

// Long bodies that stall at their last byte take room from other long ones for seconds only,
// and none from short ones. The same client has all connections.
func TestStalledBodiesLockNobodyOut(t *testing.T) {
	inWeb(t, func(t *testing.T, w *web) {
		w.large = newBodyRoom(4 * smallBody)
		const size = smallBody + 1
		ask := func(size, sent int) (net.Conn, chan int) {
			conn, got := w.dial(), make(chan int, 1)
			go func() {
				fmt.Fprintf(conn, head, size)
				conn.Write(make([]byte, sent))
			}()
			go func() {
				status, _ := read(conn)
				got <- status
			}()
			return conn, got
		}
		var all []net.Conn
		for range 8 {
			conn, _ := ask(size, size-1)
			all = append(all, conn)
		}
		synctest.Wait()
		begun := time.Now()
		for _, n := range []int{1 << 20, size} {
			conn, got := ask(n, n)
			if status := <-got; status != 200 || time.Since(begun) > bodyTime || n < smallBody && time.Since(begun) > 0 {
				t.Errorf("a request of %d bytes: %d after %v", n, status, time.Since(begun))
			}
			all = append(all, conn)
		}
		for _, conn := range all {
			conn.Close()
		}
	})
}

// Bodies that together exceed the bound are finished one after the other.
func TestPartialBodiesFinish(t *testing.T) {
	inWeb(t, func(t *testing.T, w *web) {
		w.small = newBodyRoom(10_000)
		const size = 8000
		var all sync.WaitGroup
		for range 5 {
			conn := w.dial()
			all.Go(func() {
				fmt.Fprintf(conn, head, size)
				for range size / 1000 {
					fmt.Fprintf(conn, "%01000d", 0)
					time.Sleep(time.Second)
				}
			})
			all.Go(func() {
				status, body := read(conn)
				assert.Equal(t, 200, status, "%v %v", status, body)
				conn.Close()
			})
		}
		all.Wait()
	})
}
