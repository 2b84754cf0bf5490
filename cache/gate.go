package cache

import "sync"

// gate lets operations in until it is shut, and knows who is inside. The zero
// gate is open.
type gate struct {
	mu     sync.Mutex
	isShut bool
	inside sync.WaitGroup
}

// enter fails with ErrClosed once the gate is shut. Shutting it waits until
// leave is called.
func (g *gate) enter() (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isShut {
		return nil, ErrClosed
	}
	g.inside.Add(1)
	return g.inside.Done, nil
}

// open fails with ErrClosed once the gate is shut.
func (g *gate) open() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isShut {
		return ErrClosed
	}
	return nil
}

// shut shuts the gate and waits until nobody is inside. It returns false, at
// once, where somebody has done so before.
func (g *gate) shut() bool {
	g.mu.Lock()
	before := g.isShut
	g.isShut = true
	g.mu.Unlock()
	if before {
		return false
	}
	g.inside.Wait()
	return true
}
