/* The variable environ, for programs that use it: linked into the program, whose ranks have environments of their own.
 * A program that runs by itself has it in the place of the C library's, by all of its names. */
char **__environ;
extern char **environ __attribute__((alias("__environ")));
extern char **_environ __attribute__((alias("__environ")));

/* The runtime finds it by this. */
extern char ***const gigarank_program_environment;
__attribute__((visibility("default"), used)) char ***const gigarank_program_environment = &__environ;
