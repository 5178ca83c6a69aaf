package main

import (
	"net"
	"os"
	"sync"
	"time"
)

// gate holds a node's connections back while it is closed: the node is there, but it neither reads nor writes, like a
// machine that hangs.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // nil while open; closed when the gate opens again
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()

	if g.opened == nil {
		g.opened = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()

	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

func (g *gate) isClosed() bool { return g.waiting() != nil }

func (g *gate) waiting() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.opened
}

// heldListener gives out connections that obey the gate, and can cut them all.
type heldListener struct {
	net.Listener
	gate     *gate
	onAccept func()

	mu      sync.Mutex
	stopped bool
	conns   map[*heldConn]struct{}
}

func newHeldListener(inner net.Listener, g *gate, onAccept func()) *heldListener {
	return &heldListener{Listener: inner, gate: g, onAccept: onAccept, conns: map[*heldConn]struct{}{}}
}

// Accept implements net.Listener.
func (l *heldListener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}

	l.onAccept()

	conn := &heldConn{Conn: inner, gate: l.gate, closed: make(chan struct{}), forget: l.forget}

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.stopped {
		inner.Close() //nolint:errcheck // accepted too late

		return nil, net.ErrClosed
	}

	l.conns[conn] = struct{}{}

	return conn, nil
}

// Close implements net.Listener; it cuts the open connections too.
func (l *heldListener) Close() error {
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()

	err := l.Listener.Close()
	l.cut()

	return err
}

func (l *heldListener) forget(conn *heldConn) {
	l.mu.Lock()
	delete(l.conns, conn)
	l.mu.Unlock()
}

// cut closes every open connection, those that the gate holds included.
func (l *heldListener) cut() {
	l.mu.Lock()

	conns := make([]*heldConn, 0, len(l.conns))
	for conn := range l.conns {
		conns = append(conns, conn)
	}

	l.mu.Unlock()

	for _, conn := range conns {
		conn.Close() //nolint:errcheck // it is gone either way
	}
}

// heldConn waits for the gate before each read and write.
type heldConn struct {
	net.Conn
	gate   *gate
	forget func(*heldConn)

	once   sync.Once
	closed chan struct{}

	mu            sync.Mutex
	writeDeadline time.Time
}

// Read implements net.Conn. What arrives while the gate is closed is handed on when it opens.
func (c *heldConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if heldErr := c.wait(time.Time{}); heldErr != nil {
		return 0, heldErr
	}

	return n, err
}

// Write implements net.Conn.
func (c *heldConn) Write(from []byte) (int, error) {
	c.mu.Lock()
	deadline := c.writeDeadline
	c.mu.Unlock()

	if err := c.wait(deadline); err != nil {
		return 0, err
	}

	return c.Conn.Write(from)
}

// wait returns when the gate is open. Writes obey their deadline meanwhile, because crypto/tls sets one for the farewell
// of Close and would otherwise hang on a held connection.
func (c *heldConn) wait(deadline time.Time) error {
	for {
		opened := c.gate.waiting()
		if opened == nil {
			return nil
		}

		var expired <-chan time.Time

		if !deadline.IsZero() {
			timer := time.NewTimer(time.Until(deadline))
			defer timer.Stop()

			expired = timer.C
		}

		select {
		case <-opened:
		case <-expired:
			return os.ErrDeadlineExceeded
		case <-c.closed:
			return net.ErrClosed
		}
	}
}

// SetDeadline implements net.Conn.
func (c *heldConn) SetDeadline(t time.Time) error {
	c.rememberWriteDeadline(t)

	return c.Conn.SetDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *heldConn) SetWriteDeadline(t time.Time) error {
	c.rememberWriteDeadline(t)

	return c.Conn.SetWriteDeadline(t)
}

func (c *heldConn) rememberWriteDeadline(t time.Time) {
	c.mu.Lock()
	c.writeDeadline = t
	c.mu.Unlock()
}

// Close implements net.Conn.
func (c *heldConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.forget(c)
	})

	return c.Conn.Close()
}
