/* Textures and surfaces. */
#include "isa/sass/translate.h"

TranslateOp *tr_texture(uint16_t op) { (void)op; return NULL; }
