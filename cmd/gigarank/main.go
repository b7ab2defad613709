package main

import (
	"os"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt/native/toolchain"
)

func main() {
	host.ExitOnFatalErrors()
	args := os.Args[1:]
	if language, named := toolchain.LanguageOf(os.Args[0]); named {
		args = append([]string{language.String()}, args...)
	}
	c := terminal.New()
	host.ReadInputs(c)
	c.Restarted, c.Restart = host.Restarted(), host.Restart
	os.Exit(execute(args, c))
}
