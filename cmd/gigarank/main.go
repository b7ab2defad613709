package main

import (
	"os"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt/native/toolchain"
)

func main() { os.Exit(commandLine()) }

// commandLine runs the command line of this process and returns its exit code.
func commandLine() int {
	host.ExitOnFatalErrors()
	args := os.Args[1:]
	if language, named := toolchain.LanguageOf(os.Args[0]); named {
		args = append([]string{language.String()}, args...)
	}
	c := terminal.New()
	host.ReadInputs(c)
	c.Restarted, c.Restart = host.Restarted(), host.Restart
	return execute(args, c)
}
