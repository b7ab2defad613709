/* getopt, for programs that use it: linked into the program, whose ranks have variables of their
 * own. It does the same as getopt of the GNU C library. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

static char *next; /* option in the word that is being read, NULL or at the end if no word is being read */

/* The manner of reading that the first characters of the options ask for. */
struct manner {
	int in_order;  /* 1: stop at the first word that is no option; 2: return words that are no options */
	int quiet;     /* no messages, and ':' for a missing argument */
};

static void say(const struct manner *m, const char *format, const char *program, const char *dashes, const char *name) {
	if (opterr && !m->quiet)
		fprintf(stderr, format, program, dashes, name);
}

/* argument takes the next word as the argument of an option whose own word has no argument. It returns 0 if there
 * is no next word. */
static int argument(int argc, char *const *argv) {
	if (optind >= argc)
		return 0;
	optarg = argv[optind++];
	return 1;
}

/* named reads a long option, whose name is at text. It returns -1 if no option has that name and
 * it may be a short one. */
static int named(int argc, char *const *argv, const char *text, const char *dashes, const struct option *names, int *index, const struct manner *m, int maybe_short) {
	size_t length = strcspn(text, "=");
	int found = -1, several = 0;
	for (int i = 0; names[i].name; i++) {
		if (strncmp(names[i].name, text, length) != 0)
			continue;
		if (names[i].name[length] == 0) {
			found = i, several = 0;
			break;
		}
		if (found >= 0 && (names[i].has_arg != names[found].has_arg || names[i].flag != names[found].flag || names[i].val != names[found].val))
			several = 1;
		else if (found < 0)
			found = i;
	}
	if (found < 0 && maybe_short)
		return -1;
	optind++;
	next = NULL;
	optopt = 0;
	if (found < 0 || several) {
		say(m, several ? "%s: option '%s%s' is ambiguous\n" : "%s: unrecognized option '%s%s'\n", argv[0], dashes, text);
		return '?';
	}
	const struct option *o = &names[found];
	if (text[length] == '=') {
		optarg = (char *)text + length + 1;
		if (o->has_arg == no_argument) {
			say(m, "%s: option '%s%s' doesn't allow an argument\n", argv[0], dashes, o->name);
			optarg = NULL;
			optopt = o->val;
			return '?';
		}
	} else if (o->has_arg == required_argument && !argument(argc, argv)) {
		say(m, "%s: option '%s%s' requires an argument\n", argv[0], dashes, o->name);
		optopt = o->val;
		return m->quiet ? ':' : '?';
	}
	if (index)
		*index = found;
	if (!o->flag)
		return o->val;
	*o->flag = o->val;
	return 0;
}

/* option reads the option at optind. */
static int option(int argc, char *const *argv, const char *options, const struct option *names, int *index, int only, const struct manner *m) {
	char *word = argv[optind];
	if (!next || !*next) {
		if (names && word[1] == '-')
			return named(argc, argv, word + 2, "--", names, index, m, 0);
		if (names && only && (word[2] || !strchr(options, word[1]))) {
			int outcome = named(argc, argv, word + 1, "-", names, index, m, strchr(options, word[1]) != NULL);
			if (outcome != -1)
				return outcome;
		}
		next = word + 1;
	}
	char letter[2] = {*next++, 0};
	const char *known = letter[0] == ':' || letter[0] == ';' ? NULL : strchr(options, letter[0]);
	int last = !*next;
	if (last)
		optind++;
	if (!known) {
		say(m, "%s: invalid option -- '%s%s'\n", argv[0], "", letter);
		optopt = letter[0];
		return '?';
	}
	if (known[1] != ':') {
		if (known[0] == 'W' && known[1] == ';' && names) {
			if (!last)
				optarg = next, optind++;
			else if (!argument(argc, argv))
				return m->quiet ? ':' : '?';
			next = NULL;
			optind--; /* which a long option passes */
			char *value = optarg;
			optarg = NULL;
			return named(argc, argv, value, "-W ", names, index, m, 0);
		}
		return letter[0];
	}
	char *rest = next;
	next = NULL;
	if (!last) {
		optarg = rest;
		optind++;
	} else if (known[2] != ':' && !argument(argc, argv)) {
		say(m, "%s: option requires an argument -- '%s%s'\n", argv[0], "", letter);
		optopt = letter[0];
		return m->quiet ? ':' : '?';
	}
	return letter[0];
}

static int is_option(const char *word) { return word[0] == '-' && word[1]; }

static int parse(int argc, char *const *argv, const char *options, const struct option *names, int *index, int only, int posix) {
	struct manner m = {0};
	if (optind == 0)
		optind = 1, next = NULL;
	optarg = NULL;
	if (*options == '-' || *options == '+')
		m.in_order = *options++ == '-' ? 2 : 1;
	else if (posix || getenv("POSIXLY_CORRECT"))
		m.in_order = 1;
	if (*options == ':')
		m.quiet = 1, options++;
	int skipped = optind, at = optind;
	while (!m.in_order && at < argc && argv[at] && !is_option(argv[at]))
		at++;
	if (at >= argc || !argv[at])
		return -1; /* optind is at the first word that is no option */
	if (!is_option(argv[at])) {
		if (m.in_order == 1)
			return -1;
		optarg = argv[optind++];
		return 1;
	}
	optind = at;
	int outcome = -1;
	if ((!next || !*next) && strcmp(argv[at], "--") == 0)
		optind++;
	else
		outcome = option(argc, argv, options, names, index, only, &m);
	/* The words that were read, from at to before optind, go before the words that were skipped. */
	char **words = (char **)argv;
	int read = optind - at;
	for (int i = 0; at > skipped && i < read; i++) {
		char *word = words[at + i];
		memmove(&words[skipped + i + 1], &words[skipped + i], (size_t)(at - skipped) * sizeof *words);
		words[skipped + i] = word;
	}
	optind = skipped + read;
	return outcome;
}

int getopt(int argc, char *const *argv, const char *options) { return parse(argc, argv, options, NULL, NULL, 0, 0); }

int __posix_getopt(int argc, char *const *argv, const char *options);

int __posix_getopt(int argc, char *const *argv, const char *options) { return parse(argc, argv, options, NULL, NULL, 0, 1); }

int getopt_long(int argc, char *const *argv, const char *options, const struct option *names, int *index) {
	return parse(argc, argv, options, names, index, 0, 0);
}

int getopt_long_only(int argc, char *const *argv, const char *options, const struct option *names, int *index) {
	return parse(argc, argv, options, names, index, 1, 0);
}
