// Command talos-nodes plays the Talos API of a small cluster for tests: Talos's own resource types, served by the COSI
// state server over mutual TLS, with Talos's role checks and its routing between nodes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
)

// exitUsage is the exit code for a command line that cannot be understood (EX_USAGE of sysexits).
const exitUsage = 64

// subcommand runs with the arguments that follow its name.
type subcommand struct {
	summary string
	run     func(arguments []string, stdin io.Reader, stdout, stderr io.Writer) error
}

var subcommands = map[string]subcommand{
	"serve": {summary: "serve the nodes of a JSON configuration until terminated", run: runServe},
}

func main() {
	if len(os.Args) < 2 {
		usage(os.Stderr)
		os.Exit(exitUsage)
	}

	chosen, ok := subcommands[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "talos-nodes: no subcommand %q\n", os.Args[1])
		usage(os.Stderr)
		os.Exit(exitUsage)
	}

	err := chosen.run(os.Args[2:], os.Stdin, os.Stdout, os.Stderr)

	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(exitUsage)
	case err != nil:
		fmt.Fprintf(os.Stderr, "talos-nodes %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func usage(w io.Writer) {
	names := make([]string, 0, len(subcommands))
	for name := range subcommands {
		names = append(names, name)
	}

	sort.Strings(names)
	fmt.Fprintln(w, "usage: talos-nodes SUBCOMMAND [options]")

	for _, name := range names {
		fmt.Fprintf(w, "  %-10s %s\n", name, subcommands[name].summary)
	}
}
