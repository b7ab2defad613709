package main

import (
	"os"
	"regexp"

	"gigarank/network"
)

// node is section node of a machine that is written out.
var node = regexp.MustCompile(`(?m)^node:\n( .*\n)+`)

// free returns xt5 without the interfaces that the ranks of a node share. It is the machine of all figures whose command names no machine: they are of the
// simulator's own work for ranks and messages, and interfaces cost the host more where messages are data.
func free() (*network.Machine, error) {
	m, err := network.Load("xt5", os.ReadFile)
	if err != nil {
		return nil, err
	}
	return network.Parse("xt5", node.ReplaceAll(m.YAML(), nil), nil)
}
