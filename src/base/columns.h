/* Number of columns that a text takes on a display: tables are aligned by columns, not by bytes. A
 * UTF-8 character takes one column; two if it is wide (East Asian letters, emoji); none if it
 * combines with the one before. The table of blocks is built in, because C's wcwidth knows them
 * only in some locales, and output must not depend on the locale. Bytes that are not UTF-8 take one
 * column each. */
#ifndef TYTO_BASE_COLUMNS_H
#define TYTO_BASE_COLUMNS_H

#include <stddef.h>

int columns_of(const char *text);
/* The bytes and columns of the character at `text`, which must not be at its end. */
size_t columns_of_first(const char *text, int *columns);
/* The width for printf ("%*s", "%-*s") that pads a text to `columns` columns. printf counts bytes,
 * not columns. */
int columns_pad(const char *text, int columns);

#endif
