package kernel

import (
	"errors"
	"runtime"

	"gigarank/engine"
	"gigarank/network"
)

func Simulate(machine *network.Machine, ranks int, c Config) (*Result, error) {
	if machine == nil {
		return nil, errors.New("no machine: take one of network.Load or network.Parse")
	}
	var err error
	if c.Target, err = machine.Target(int64(ranks)); err != nil {
		return nil, err
	}
	c.Transports = engine.NewInProcess(min(ranks, runtime.GOMAXPROCS(0)))
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	return s.Run()
}
