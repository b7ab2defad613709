package terminal

import "gigarank/internal/spelling"

// CommandLine quotes a command so that a shell reads it back.
func CommandLine(args []string) string {
	return spelling.Quoted(append([]string{"gigarank"}, args[1:]...))
}
