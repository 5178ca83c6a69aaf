package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// controlSocket is the control API's file in the configured directory.
const controlSocket = "control.sock"

// runServe serves a cluster until SIGTERM, SIGINT or, if asked, the end of standard input.
func runServe(arguments []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("talos-nodes serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	configFile := flags.String("config", "", "JSON configuration `FILE`; standard input where absent")
	exitOnClose := flags.Bool("exit-on-stdin-close", false, "end when standard input is closed")

	if err := flags.Parse(arguments); err != nil {
		return flag.ErrHelp
	}

	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	config, rest, err := readConfig(*configFile, stdin)
	if err != nil {
		return err
	}

	if *exitOnClose {
		go func() {
			io.Copy(io.Discard, rest) //nolint:errcheck // any end is an end
			stop()
		}()
	}

	cluster, err := newFleet(config.Dir)
	if err != nil {
		return err
	}
	defer cluster.close()

	for _, node := range config.Nodes {
		if err := cluster.add(ctx, node); err != nil {
			return err
		}
	}

	return serveControl(ctx, cluster, func() { fmt.Fprintln(stdout, "ready") })
}

// readConfig reads one JSON document; rest is what follows it on standard input.
func readConfig(file string, stdin io.Reader) (serveConfig, io.Reader, error) {
	source, name := stdin, "standard input"

	if file != "" {
		opened, err := os.Open(file)
		if err != nil {
			return serveConfig{}, nil, err
		}
		defer opened.Close() //nolint:errcheck // read only

		source, name = opened, file
	}

	var config serveConfig

	decoder := json.NewDecoder(source)
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(&config); err != nil {
		return serveConfig{}, nil, fmt.Errorf("configuration %s: %w", name, err)
	}

	if config.Dir == "" {
		return serveConfig{}, nil, fmt.Errorf("configuration %s: dir must be set", name)
	}

	return config, stdin, nil
}

// serveControl serves the control API on its socket until the context ends; ready is called once it listens.
func serveControl(ctx context.Context, cluster *fleet, ready func()) error {
	path := filepath.Join(cluster.dir, controlSocket)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	listener, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("control socket (a path may have 107 bytes): %w", err)
	}

	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}

	server := &http.Server{Handler: controlHandler(cluster), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)

	go func() { failed <- server.Serve(listener) }()

	ready()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	return server.Close()
}
