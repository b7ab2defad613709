package main

import (
	"os"

	"gigarank/mpivirt/native/toolchain"
)

func main() {
	exitOnFatalErrors()
	args := os.Args[1:]
	if language, named := toolchain.LanguageOf(os.Args[0]); named {
		args = append([]string{language.String()}, args...)
	}
	os.Exit(execute(args, newConsole()))
}
