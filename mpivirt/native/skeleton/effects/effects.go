// Package effects tells what functions that are not part of a program do with their arguments: those of MPI, of gigarank.h, of the C
// library and of LLVM.
//
// # Model
//
// An [Effect] has a role for each argument. The table is closed: a function that is not in it may do anything, and a skeleton
// of a program that calls it cannot be made.
//
// # Use
//
//	e, known := effects.Of("MPI_Send")
//	if known && e.Role(0) == effects.Sent { … }
package effects

import (
	"strings"
)

// Role is what a function does with an argument.
type Role byte

// The roles of arguments.
const (
	Value     Role = 'v' // uses its value alone
	Read      Role = 'a' // reads the memory that it points to
	Written   Role = 'o' // writes that memory
	Updated   Role = 'b' // reads and writes it
	Sent      Role = 's' // reads the content of messages there
	Received  Role = 'r' // writes the content of messages there; MPI_IN_PLACE may have it read, too
	Exchanged Role = 'x' // reads or writes the content of messages there
	Described Role = 'd' // reads a descriptor of Fortran, and the memory that it describes
	Assigned  Role = 'w' // reads and writes a descriptor, and writes the memory that it describes
	Bounded   Role = 'm' // writes the bounds in a descriptor of the dimension that the next argument numbers
	Allotted  Role = 'p' // reads a descriptor and writes the address in it, its first eight bytes, with that of new memory
	Nested    Role = 'n' // reads the memory that it points to, and the memory to which pointers in it lead
)

// Memory reports whether the argument is an address for the function.
func (r Role) Memory() bool { return r != Value && r != 0 }

// Payload reports whether the argument points to the content of messages.
func (r Role) Payload() bool { return r == Sent || r == Received || r == Exchanged }

// Writes and Reads report whether the function writes or reads the memory of an argument that is no content of messages.
func (r Role) Writes() bool {
	return r == Written || r == Updated || r == Assigned || r == Allotted || r == Bounded
}
func (r Role) Reads() bool {
	return r == Read || r == Nested || r == Updated || r == Described || r == Assigned || r == Allotted
}

// Kind is what matters of a function besides its arguments.
type Kind uint8

// The kinds of functions.
const (
	Pure      Kind = iota // its result and the memory that it writes depend on its arguments alone
	Course                // part of the course of a program: each call of MPI, and the end of a program
	Alloc                 // returns new memory
	Resize                // returns the memory of its first argument, which may have moved
	Free                  // ends the use of the memory of its first argument
	Output                // prints; the course of a program may not depend on its result
	Copy                  // copies memory from its second argument to its first, with the pointers in it
	Parse                 // stores a pointer into the text of its first argument where the second points to
	Random                // reads and changes the state of the random numbers of the C library
	Record                // enters times into the statistics of the run, which may be those of clocks
	Hint                  // tells the compiler something
	Stack                 // notes or restores how far the stack has grown, by variables whose sizes are not constant
	Task                  // begins or ends a task of a timed form
	Statement             // begins a statement of Fortran that reads or writes a text in memory, and returns its state; all calls with it belong together
	Input                 // opens, reads or closes a file, or begins such a statement of Fortran: all of these belong together
)

// The functions that begin and end tasks, with the number of the task, and with its iterations. TaskUncounted tells the iterations that a skeleton cannot count.
const (
	TaskBegins    = "gigarank_task_begin"
	TaskEnds      = "gigarank_task_end"
	TaskUncounted = "gigarank_task_uncounted"
)

// Effect is what a function does.
type Effect struct {
	Kind  Kind
	Roles string // of the arguments; the last counts for all further ones if More is set
	More  bool
	Group string // of a function of MPI with payload: calls of different groups exchange no messages
	Clock bool   // its result is a time of the host or of the machine
}

// Role returns the role of an argument.
func (e *Effect) Role(n int) Role {
	if e.More && n >= len(e.Roles) {
		n = len(e.Roles) - 1
	}
	if n >= len(e.Roles) {
		return 0
	}
	return Role(e.Roles[n])
}

// table holds the effects of functions by name.
var table = map[string]*Effect{}

// Of returns the effect of a function, and whether it is known.
func Of(name string) (*Effect, bool) {
	for _, standard := range []string{"__isoc99_", "__isoc23_"} { // names of the C library by the standard that a source asks for
		name = strings.TrimPrefix(name, standard)
	}
	e, known := table[name]
	if !known && strings.HasPrefix(name, "llvm.") {
		return intrinsic(strings.TrimPrefix(name, "llvm."))
	}
	if e := byPrefix(name); !known && e != nil {
		return e, true
	}
	return e, known
}

// Names returns the names of all functions of the table, without those of LLVM.
func Names() (all []string) {
	for name := range table {
		all = append(all, name)
	}
	return all
}

// ofC are the roles of functions of the C library and of gigarank.h, by kind; ... stands for further arguments like the last.
var ofC = map[Kind]string{
	Course: `exit v; _exit v; _Exit v; abort; __assert_fail aava; gigarank_compute v; gigarank_charge v`,
	Record: `gigarank_record vav; gigarank_phase a; MPI_Pcontrol vv...`,
	Task:   TaskBegins + ` v; ` + TaskEnds + ` vv; ` + TaskUncounted + ` vv`,
	Alloc:  `malloc v; calloc vv; aligned_alloc vv`,
	Resize: `realloc bv`,
	Free:   `free b`,
	Output: `printf aa...; puts a; putchar v; fprintf baa...; fputs ab; fputc vb; putc vb; fflush b; perror a; fwrite avvb; setbuf bv; setvbuf bvvv; setlinebuf b`,
	Input:  `fopen aa; fclose b; fgets ovb; fgetc b; getc b; getchar; ungetc vb; fread ovvb; fscanf bao...; scanf ao...; feof b; ferror b; rewind b; fseek bvv; ftell b`,
	Copy:   `memcpy oav; memmove oav`,
	Parse:  `strtol aov; strtoul aov; strtoll aov; strtoull aov; strtod ao; strtof ao`,
	Random: `rand; srand v; random; srandom v; drand48; srand48 v; lrand48`,
	Pure: `memset bvv; memcmp aav; bcmp aav; strlen a; strcmp aa; strncmp aav; strcasecmp aa; strncasecmp aav; strnlen av; strspn aa; strcspn aa; strpbrk aa; memchr avv; toupper v; tolower v; __ctype_b_loc; __ctype_toupper_loc; __ctype_tolower_loc; strchr av; strrchr av; strstr aa; atoi a; atol a; atoll a; atof a; abs v; labs v; llabs v
		sscanf aao...; getopt vba; getopt_long vbaao; qsort bvvv; strftime ovaa
		sprintf oaa...; snprintf ovaa...; strcpy oa; strncpy oav; strcat ba; strncat bav; getenv a; isatty v
		sqrt v; cbrt v; fabs v; floor v; ceil v; round v; trunc v; rint v; nearbyint v; lround v; llround v; lrint v; sin v; cos v; tan v; asin v; acos v; atan v; atan2 vv; sinh v; cosh v; tanh v
		exp v; exp2 v; expm1 v; log v; log2 v; log10 v; log1p v; pow vv; fmod vv; hypot vv; fmax vv; fmin vv; copysign vv; fma vvv; ldexp vv; erf v; erfc v; tgamma v
		__divdc3 vvvv; __muldc3 vvvv; __divsc3 vvvv; __mulsc3 vvvv; cabs vv; cabsf v
		sqrtf v; cbrtf v; fabsf v; floorf v; ceilf v; roundf v; truncf v; sinf v; cosf v; tanf v; atanf v; atan2f vv; expf v; logf v; log10f v; powf vv; fmodf vv; hypotf vv; fmaxf vv; fminf vv`,
}

func init() {
	inBoth := addMPI()
	for kind, text := range ofC {
		for name, roles := range entries(text) {
			list, more := strings.CutSuffix(roles, "...")
			table[name] = &Effect{Kind: kind, Roles: list, More: more}
		}
	}
	addFortran(inBoth)
	for name, roles := range map[string]string{"time": "o", "clock": "", "times": "o", "gettimeofday": "oo", "clock_gettime": "vo", "getrusage": "vo"} {
		table[name] = &Effect{Kind: Pure, Roles: roles, Clock: true}
	}
	for _, name := range []string{"localtime", "gmtime", "ctime", "asctime"} { // each call writes memory that the library has once
		table[name] = &Effect{Kind: Alloc, Roles: "a", Clock: true}
	}
}

// entries returns the names of a text with their roles.
func entries(text string) map[string]string {
	all := map[string]string{}
	for _, entry := range strings.FieldsFunc(text, func(c rune) bool { return c == ';' || c == '\n' }) {
		if fields := strings.Fields(entry); len(fields) > 0 {
			all[fields[0]] = strings.Join(fields[1:], "")
		}
	}
	return all
}

// hints are the intrinsics that only tell the compiler something.
var hints = []string{"lifetime.start", "lifetime.end", "assume", "experimental.noalias.scope.decl", "dbg", "invariant.start", "invariant.end", "donothing", "prefetch"}

// pure are the intrinsics whose result depends on their arguments alone.
var pure = []string{
	"fmuladd", "fma", "sqrt", "fabs", "sin", "cos", "tan", "exp", "exp2", "log", "log2", "log10", "pow", "powi", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven", "ldexp",
	"minnum", "maxnum", "minimum", "maximum", "copysign", "smax", "smin", "umax", "umin", "abs", "ctpop", "ctlz", "cttz", "bswap", "bitreverse", "fshl", "fshr", "is.fpclass",
	"sadd.with.overflow", "ssub.with.overflow", "smul.with.overflow", "uadd.with.overflow", "usub.with.overflow", "umul.with.overflow",
	"sadd.sat", "ssub.sat", "uadd.sat", "usub.sat", "vector.reduce", "expect", "is.constant", "objectsize", "lround", "llround", "lrint", "llrint",
}

// intrinsic returns the effect of an intrinsic of LLVM, whose name is without llvm.
func intrinsic(name string) (*Effect, bool) {
	is := func(names ...string) bool {
		for _, n := range names {
			if name == n || strings.HasPrefix(name, n+".") {
				return true
			}
		}
		return false
	}
	switch {
	case is(hints...):
		return &Effect{Kind: Hint, Roles: "v", More: true}, true
	case is("stacksave"):
		return &Effect{Kind: Stack}, true
	case is("stackrestore"):
		return &Effect{Kind: Stack, Roles: "v"}, true
	case is("memcpy", "memmove"):
		return &Effect{Kind: Copy, Roles: "oavv"}, true
	case is("memset"):
		return &Effect{Kind: Pure, Roles: "ovvv"}, true
	case is(pure...):
		return &Effect{Kind: Pure, Roles: "v", More: true}, true
	}
	return nil, false
}
