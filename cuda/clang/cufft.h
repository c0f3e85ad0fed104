/* A name under which programs include cuFFT; with the functions of complex numbers, as in the
 * vendor's header. */
#ifdef __CUDA__
#include "cuComplex.h"
#endif
#include "tyto/cufft.h"
