/* A library keeps what programs register, by name. */
int *registered(const char *name, int *object); /* the first of the name */
int registrations(void);
