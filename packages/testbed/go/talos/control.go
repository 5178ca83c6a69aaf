package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"
)

// maxControlBody bounds a control request, in bytes.
const maxControlBody = 1 << 20

// controlHandler is the API by which tests change the cluster. Bodies and answers are JSON; an error is
// `{"error": "..."}` with status 400, 404 or 409.
//
//	GET    /nodes                      list
//	POST   /nodes                      add a node (the object of the configuration)
//	PATCH  /nodes/{name}               change facts: a value, null, or {"phase":"tearingDown"} each
//	POST   /nodes/{name}/freeze        hold its connections back; unfreeze lets them go on
//	POST   /nodes/{name}/stop          stop listening; start listens again
//	PUT    /nodes/{name}/certificate   {"mode": "good" | "wrongName" | "otherCA" | "expired"}
//	PUT    /nodes/{name}/delay         {"milliseconds": 0}
//	PUT    /nodes/{name}/failure       {"type": resource type, full method or "*", "code": gRPC code, "message", "times"}
//	GET    /counters?node=             calls and connections; DELETE resets
func controlHandler(cluster *fleet) http.Handler {
	mux := http.NewServeMux()

	mux.HandleFunc("GET /nodes", func(w http.ResponseWriter, _ *http.Request) {
		list := []nodeStatus{}
		for _, n := range cluster.all() {
			list = append(list, n.status())
		}

		answer(w, list)
	})

	mux.HandleFunc("POST /nodes", func(w http.ResponseWriter, r *http.Request) {
		var config nodeConfig
		if err := readBody(r, &config); err != nil {
			refuse(w, err)

			return
		}

		done(w, cluster.add(r.Context(), config))
	})

	onNode(mux, cluster, "PATCH /nodes/{name}", func(n *node, r *http.Request) error {
		var fields nodeFields
		if err := readBody(r, &fields); err != nil {
			return err
		}

		return n.patch(r.Context(), fields)
	})

	onNode(mux, cluster, "POST /nodes/{name}/freeze", func(n *node, _ *http.Request) error { n.gate.close(); return nil })
	onNode(mux, cluster, "POST /nodes/{name}/unfreeze", func(n *node, _ *http.Request) error { n.gate.open(); return nil })
	onNode(mux, cluster, "POST /nodes/{name}/stop", func(n *node, _ *http.Request) error { n.stop(); return nil })
	onNode(mux, cluster, "POST /nodes/{name}/start", func(n *node, _ *http.Request) error {
		defer cluster.redial(n)

		return n.start()
	})

	onNode(mux, cluster, "PUT /nodes/{name}/certificate", func(n *node, r *http.Request) error {
		var body struct {
			Mode certificateMode `json:"mode"`
		}
		if err := readBody(r, &body); err != nil {
			return err
		}

		defer cluster.redial(n)

		return n.setCertificate(body.Mode)
	})

	onNode(mux, cluster, "PUT /nodes/{name}/delay", func(n *node, r *http.Request) error {
		var body struct {
			Milliseconds int `json:"milliseconds"`
		}
		if err := readBody(r, &body); err != nil {
			return err
		}

		n.backend.faults.setDelay(time.Duration(body.Milliseconds) * time.Millisecond)

		return nil
	})

	onNode(mux, cluster, "PUT /nodes/{name}/failure", func(n *node, r *http.Request) error { return setFailure(n, r) })

	mux.HandleFunc("GET /counters", func(w http.ResponseWriter, r *http.Request) {
		answer(w, cluster.counters.report(r.URL.Query().Get("node")))
	})

	mux.HandleFunc("DELETE /counters", func(w http.ResponseWriter, _ *http.Request) {
		cluster.counters.reset()
		done(w, nil)
	})

	return mux
}

func setFailure(n *node, r *http.Request) error {
	var body struct {
		Type    string `json:"type"`
		Code    string `json:"code"`
		Message string `json:"message,omitempty"`
		// Times is how many requests fail; 0 means all.
		Times int `json:"times,omitempty"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}

	if body.Type == "" {
		return errors.New("type: must be a resource type, a full method name or *")
	}

	var code codes.Code
	if err := code.UnmarshalJSON([]byte(fmt.Sprintf("%q", body.Code))); err != nil {
		return fmt.Errorf("code %q: must be a gRPC code such as UNAVAILABLE", body.Code)
	}

	if body.Message == "" {
		body.Message = "testbed: injected failure"
	}

	if body.Times == 0 {
		body.Times = -1
	}

	n.backend.faults.setFailure(body.Type, injectedFailure{code: code, message: body.Message, remaining: body.Times})

	return nil
}

func onNode(mux *http.ServeMux, cluster *fleet, pattern string, act func(*node, *http.Request) error) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		n, err := cluster.node(r.PathValue("name"))
		if err != nil {
			refuse(w, err)

			return
		}

		done(w, act(n, r))
	})
}

func readBody(r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxControlBody))
	if err != nil {
		return err
	}

	return decodeStrictly(body, into)
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		refuse(w, err)

		return
	}

	w.WriteHeader(http.StatusNoContent)
}

func refuse(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest

	switch {
	case errors.Is(err, errNodeUnknown):
		code = http.StatusNotFound
	case errors.Is(err, errNodeExists):
		code = http.StatusConflict
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) //nolint:errcheck // the client is gone
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value) //nolint:errcheck // the client is gone
}
