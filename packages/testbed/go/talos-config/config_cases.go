package main

import (
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

// configAnswer carries a configuration, or the sentence with which Talos refused.
type configAnswer struct {
	Config string `json:"config"`
	Error  string `json:"error"`
}

type generateCase struct {
	Contract          string `json:"contract"`
	MachineType       string `json:"machineType"`
	KubernetesVersion string `json:"kubernetesVersion"`
}

// bundles holds the secrets per contract: their keys take seconds to make and say nothing about documents.
var bundles = map[string]*secrets.Bundle{}

func generateConfig(one generateCase) configAnswer {
	text, err := generated(one)

	return answerOf(text, err)
}

func generated(one generateCase) ([]byte, error) {
	contract, err := config.ParseContractFromVersion(one.Contract)
	if err != nil {
		return nil, err
	}

	machineType, err := machine.ParseType(one.MachineType)
	if err != nil {
		return nil, err
	}

	bundle, ok := bundles[one.Contract]
	if !ok {
		if bundle, err = secrets.NewBundle(secrets.NewClock(), contract); err != nil {
			return nil, err
		}

		bundles[one.Contract] = bundle
	}

	input, err := generate.NewInput("lab", "https://10.5.0.100:6443", one.KubernetesVersion,
		generate.WithVersionContract(contract), generate.WithSecretsBundle(bundle), generate.WithInstallDisk("/dev/sda"))
	if err != nil {
		return nil, err
	}

	provider, err := input.Config(machineType)
	if err != nil {
		return nil, err
	}

	return provider.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
}

type patchCase struct {
	Config  string   `json:"config"`
	Patches []string `json:"patches"`
}

// patchConfig applies patches one after another. Without any it gives the configuration as Talos spells it.
func patchConfig(one patchCase) configAnswer {
	text, err := patched(one)

	return answerOf(text, err)
}

func patched(one patchCase) ([]byte, error) {
	provider, err := configloader.NewFromBytes([]byte(one.Config))
	if err != nil {
		return nil, fmt.Errorf("loading: %w", err)
	}

	patches := make([]configpatcher.Patch, 0, len(one.Patches))

	for _, text := range one.Patches {
		patch, patchErr := configpatcher.LoadPatch([]byte(text))
		if patchErr != nil {
			return nil, fmt.Errorf("loading the patch: %w", patchErr)
		}

		patches = append(patches, patch)
	}

	output, err := configpatcher.Apply(configpatcher.WithConfig(provider), patches)
	if err != nil {
		return nil, fmt.Errorf("patching: %w", err)
	}

	result, err := output.Config()
	if err != nil {
		return nil, err
	}

	return result.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
}

type validateCase struct {
	Config string `json:"config"`
}

type validateAnswer struct {
	Warnings []string `json:"warnings"`
	Error    string   `json:"error"`
}

// anyMode is a machine that is already installed: nothing about disks or platforms is asked.
type anyMode struct{}

func (anyMode) String() string        { return "metal" }
func (anyMode) RequiresInstall() bool { return false }
func (anyMode) InContainer() bool     { return false }

func validateConfig(one validateCase) validateAnswer {
	provider, err := configloader.NewFromBytes([]byte(one.Config))
	if err != nil {
		return validateAnswer{Error: fmt.Sprintf("loading: %v", err)}
	}

	warnings, err := provider.Validate(anyMode{}, validation.WithLocal())
	if err != nil {
		return validateAnswer{Warnings: warnings, Error: err.Error()}
	}

	return validateAnswer{Warnings: warnings}
}

func answerOf(text []byte, err error) configAnswer {
	if err != nil {
		return configAnswer{Error: err.Error()}
	}

	return configAnswer{Config: string(text)}
}
