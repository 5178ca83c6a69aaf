// Command talos-config asks the configuration library of one Talos version: what it generates, what its patcher makes
// of a configuration, and what it says about the result. Every subcommand reads a JSON list of cases from standard input
// and writes the list of answers, in the same order, to standard output.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
)

// exitUsage is the exit code for a command line that cannot be understood (EX_USAGE of sysexits).
const exitUsage = 64

// subcommand answers every case of a JSON list.
type subcommand struct {
	summary string
	answer  func(cases []byte) (any, error)
}

var subcommands = map[string]subcommand{
	"genconfig": {summary: "generate machine configurations", answer: each(generateConfig)},
	"patch":     {summary: "apply patches to machine configurations", answer: each(patchConfig)},
	"validate":  {summary: "validate machine configurations as a client does", answer: each(validateConfig)},
}

func main() {
	if len(os.Args) != 2 {
		usage(os.Stderr)
		os.Exit(exitUsage)
	}

	chosen, ok := subcommands[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "talos-config: no subcommand %q\n", os.Args[1])
		usage(os.Stderr)
		os.Exit(exitUsage)
	}

	if err := run(chosen, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "talos-config %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func run(chosen subcommand, in io.Reader, out io.Writer) error {
	cases, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("standard input cannot be read: %w", err)
	}

	answers, err := chosen.answer(cases)
	if err != nil {
		return err
	}

	return json.NewEncoder(out).Encode(answers)
}

// each makes a subcommand of a function that answers one case.
func each[C, A any](answer func(C) A) func(cases []byte) (any, error) {
	return func(raw []byte) (any, error) {
		var cases []C

		if err := json.Unmarshal(raw, &cases); err != nil {
			return nil, fmt.Errorf("standard input is no JSON list of cases: %w", err)
		}

		answers := make([]A, 0, len(cases))
		for _, one := range cases {
			answers = append(answers, answer(one))
		}

		return answers, nil
	}
}

func usage(w io.Writer) {
	names := make([]string, 0, len(subcommands))
	for name := range subcommands {
		names = append(names, name)
	}

	sort.Strings(names)
	fmt.Fprintln(w, "usage: talos-config SUBCOMMAND < CASES.json")

	for _, name := range names {
		fmt.Fprintf(w, "  %-10s %s\n", name, subcommands[name].summary)
	}
}
