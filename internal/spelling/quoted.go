package spelling

import "strings"

// Quoted returns words as a shell reads them back.
func Quoted(list []string) string {
	words := make([]string, len(list))
	for i, word := range list {
		if word == "" || strings.Trim(word, safe) != "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// safe are the characters without a special meaning to a shell.
const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,:/^+@%"
