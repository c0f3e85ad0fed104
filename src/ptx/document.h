/* The document docs/instructions.md, generated from the table of instructions. */
#ifndef TYTO_PTX_DOCUMENT_H
#define TYTO_PTX_DOCUMENT_H

#include "base/text.h"

/* Appends the document: every instruction with its forms, and what is not supported. */
void ptx_document(Text *out);

#endif
