package main

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// call identifies what is counted: one kind of request that reached one node.
type call struct {
	Node   string `json:"node"`
	Method string `json:"method"`
	// Type is the resource type of a COSI request, else empty.
	Type string `json:"type"`
	// Roles of the caller, sorted and joined by commas.
	Roles string `json:"roles"`
	// Via is `direct`, or `forwarded` where a control plane passed the request on.
	Via string `json:"via"`
}

type countedCall struct {
	call
	Count int `json:"count"`
}

// callCounters counts requests (refused ones too) and accepted TCP connections per node.
type callCounters struct {
	mu          sync.Mutex
	calls       map[call]int
	connections map[string]int
}

func newCallCounters() *callCounters {
	return &callCounters{calls: map[call]int{}, connections: map[string]int{}}
}

func (c *callCounters) add(key call) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.calls[key]++
}

func (c *callCounters) connected(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.connections[node]++
}

func (c *callCounters) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()

	clear(c.calls)
	clear(c.connections)
}

type counterReport struct {
	Calls       []countedCall  `json:"calls"`
	Connections map[string]int `json:"connections"`
}

// report lists the counters of one node, or of all where node is empty, in a stable order.
func (c *callCounters) report(node string) counterReport {
	c.mu.Lock()
	defer c.mu.Unlock()

	report := counterReport{Calls: []countedCall{}, Connections: map[string]int{}}

	for key, count := range c.calls {
		if node == "" || key.Node == node {
			report.Calls = append(report.Calls, countedCall{call: key, Count: count})
		}
	}

	for name, count := range c.connections {
		if node == "" || name == node {
			report.Connections[name] = count
		}
	}

	slices.SortFunc(report.Calls, func(a, b countedCall) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Method, b.Method), strings.Compare(a.Type, b.Type),
			strings.Compare(a.Roles, b.Roles), strings.Compare(a.Via, b.Via))
	})

	return report
}
