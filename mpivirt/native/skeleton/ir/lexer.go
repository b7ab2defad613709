package ir

import (
	"fmt"
	"strings"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenLine             // a whole line that is kept as it stands
	tokenWord             // define, i32, nsw
	tokenNumber           // -3, 1.000000e+00, 0xK4000C000000000000000
	tokenLocal            // %name; the text is without the sigil
	tokenGlobal           // @name
	tokenMeta             // !name, !12; "" before a brace or a text
	tokenHash             // #12
	tokenLabel            // name: as the label of a block
	tokenString           // "text", with its quotes
	tokenBytes            // c"text", without the c
	tokenPunct            // one of = , ( ) { } [ ] < > * | and ...
)

// token is a token of the text, which starts and ends at bytes of it.
type token struct {
	kind       tokenKind
	text       string
	line       int
	start, end int
}

// Error says what a text has that the reader does not take, and in which line.
type Error struct {
	File   string
	Line   int
	Text   string
	Source *Position // of the instruction, nil if the text does not tell
}

func (e *Error) Error() string {
	if e.Source != nil {
		return fmt.Sprintf("%s: %s (%s:%d)", e.Source, e.Text, e.File, e.Line)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// lexer splits a text into tokens.
type lexer struct {
	file   string
	text   string
	at     int
	line   int
	begun  bool // a token stands in the line already
	tokens []token
}

// isNameByte reports whether names have the byte without quotes.
func isNameByte(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '$' || c == '.' || c == '_'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lex returns the tokens of a text, the last of which is its end.
func lex(file, text string) ([]token, error) {
	l := &lexer{file: file, text: text, line: 1}
	for l.at < len(l.text) {
		if err := l.step(); err != nil {
			return nil, err
		}
	}
	l.add(tokenEnd, "", l.at)
	return l.tokens, nil
}

func (l *lexer) add(kind tokenKind, text string, start int) {
	l.tokens = append(l.tokens, token{kind, text, l.line, start, l.at})
	l.begun = true
}

func (l *lexer) fail(format string, arguments ...any) error {
	return &Error{File: l.file, Line: l.line, Text: fmt.Sprintf(format, arguments...)}
}

// kept are the begins of lines that are kept as they stand: metadata, comdats, groups of attributes, the target.
var kept = []string{"!", "$", "attributes ", "source_filename ", "target "}

// step takes the next token, or what separates tokens.
func (l *lexer) step() error {
	rest, start := l.text[l.at:], l.at
	switch c := rest[0]; {
	case c == '\n':
		l.at, l.line, l.begun = l.at+1, l.line+1, false
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case c == ';':
		l.at += lineLength(rest)
	case !l.begun && (l.at == 0 || l.text[l.at-1] == '\n') && isKept(rest):
		l.at += lineLength(rest)
		l.add(tokenLine, strings.TrimRight(l.text[start:l.at], " \t\r"), start)
	case c == '%' || c == '@':
		l.at++
		name, err := l.name()
		if err != nil || name == "" {
			return l.fail("there is no name after %c", c)
		}
		l.add(map[byte]tokenKind{'%': tokenLocal, '@': tokenGlobal}[c], name, start)
	case c == '!':
		l.at += 1 + nameLength(rest[1:])
		l.add(tokenMeta, l.text[start+1:l.at], start)
	case c == '#':
		l.at += 1 + nameLength(rest[1:])
		l.add(tokenHash, l.text[start+1:l.at], start)
	case c == '"':
		return l.quoted(tokenString, start)
	case strings.HasPrefix(rest, `c"`):
		l.at++
		return l.quoted(tokenBytes, start)
	case strings.HasPrefix(rest, "..."):
		l.at += 3
		l.add(tokenPunct, "...", start)
	case isNameByte(c):
		return l.run(start)
	case strings.IndexByte("=,(){}[]<>*|", c) >= 0:
		l.at++
		l.add(tokenPunct, rest[:1], start)
	default:
		return l.fail("the character %q has no place here", c)
	}
	return nil
}

// isKept reports whether the line at the begin of a text is kept as it stands: it gives something a value.
func isKept(rest string) bool {
	if !strings.Contains(strings.TrimRight(rest[:lineLength(rest)], " \t\r"), " = ") {
		return false
	}
	for _, begin := range kept {
		if strings.HasPrefix(rest, begin) {
			return true
		}
	}
	return false
}

func lineLength(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func nameLength(text string) (n int) {
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	return n
}

// quoted takes a text in quotes, which has no quote inside: LLVM writes such bytes as \22. A label may stand in quotes.
func (l *lexer) quoted(kind tokenKind, start int) error {
	begin := l.at
	n := strings.IndexAny(l.text[begin+1:], "\"\n")
	if n < 0 || l.text[begin+1+n] == '\n' {
		return l.fail("a text in quotes does not end in its line")
	}
	l.at = begin + n + 2
	text := l.text[begin:l.at]
	if kind == tokenString && l.at < len(l.text) && l.text[l.at] == ':' && !l.begun {
		l.at++
		kind = tokenLabel
	}
	l.add(kind, text, start)
	return nil
}

// name takes a name, with the quotes that it has.
func (l *lexer) name() (string, error) {
	start := l.at
	if start < len(l.text) && l.text[start] == '"' {
		n := strings.IndexAny(l.text[start+1:], "\"\n")
		if n < 0 || l.text[start+1+n] == '\n' {
			return "", l.fail("a name in quotes does not end in its line")
		}
		l.at += n + 2
		return l.text[start:l.at], nil
	}
	l.at += nameLength(l.text[start:])
	return l.text[start:l.at], nil
}

// run takes a label, a number or a word.
func (l *lexer) run(start int) error {
	rest := l.text[start:]
	n := nameLength(rest)
	switch {
	case n < len(rest) && rest[n] == ':':
		l.at += n + 1
		l.add(tokenLabel, rest[:n], start)
	case isDigit(rest[0]) || rest[0] == '-' && n > 1 && isDigit(rest[1]):
		l.at += numberLength(rest)
		l.add(tokenNumber, l.text[start:l.at], start)
	case rest[0] == '-' || rest[0] == '.':
		return l.fail("the character %q has no place here", rest[0])
	default:
		l.at += n
		l.add(tokenWord, rest[:n], start)
	}
	return nil
}

// numberLength returns the length of the number at the begin of a text: an integer, a decimal fraction with an
// exponent, or the bits of a floating-point value.
func numberLength(text string) int {
	n := 1
	for n < len(text) && (isNameByte(text[n]) || text[n] == '+' && (text[n-1] == 'e' || text[n-1] == 'E')) {
		n++
	}
	return n
}
