/* How many columns a text takes where it is shown: tables are aligned by these and not by bytes. A
 * character of UTF-8 takes one; two if it is wide (East Asian letters, emoji); none if it combines
 * with the one before. The blocks are written down here: C's wcwidth knows them in some locales
 * alone, and no locale may change what is written. Bytes that are no UTF-8 take a column each. */
#ifndef TYTO_BASE_COLUMNS_H
#define TYTO_BASE_COLUMNS_H

#include <stddef.h>

int columns_of(const char *text);
/* The bytes of the character at `text`, which is not at its end, and its columns. */
size_t columns_of_first(const char *text, int *columns);
/* The width for printf ("%*s", "%-*s") that fills a text up to `columns` columns. printf counts
 * bytes, not columns. */
int columns_pad(const char *text, int columns);

#endif
