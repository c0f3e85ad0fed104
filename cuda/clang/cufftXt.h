/* A name under which programs include cuFFT's functions for any type (cufftXt...). */
#include "cufft.h"
