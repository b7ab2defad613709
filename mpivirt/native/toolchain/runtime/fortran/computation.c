/* The functions of gigarank.h as Fortran calls them. */
#include "gigarank.h"

#include <string.h>

int gigarank_compute_(const double *seconds) { return gigarank_compute(*seconds); }
int gigarank_charge_(const int *on) { return gigarank_charge(*on); }

/* gigarank_phase_ takes a name of Fortran: blanks at its end are no part of it. */
int gigarank_phase_(const char *name, size_t length) {
	char text[length + 1];
	while (length && name[length - 1] == ' ')
		length--;
	memcpy(text, name, length);
	text[length] = '\0';
	return gigarank_phase(text);
}

int gigarank_sample_end_(void) { return gigarank_sample_end(); }

int gigarank_sample_begin_(const char *name, const int *times, size_t length) {
	char text[length + 1];
	while (length && name[length - 1] == ' ')
		length--;
	memcpy(text, name, length);
	text[length] = '\0';
	return gigarank_sample_begin(text, *times);
}
