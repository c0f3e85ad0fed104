/* The vendor's names of constants that kernels use. */
#ifndef TYTO_MATH_CONSTANTS_H
#define TYTO_MATH_CONSTANTS_H

#include <math.h>

#define CUDART_INF_F        __builtin_inff()
#define CUDART_NAN_F        __builtin_nanf("")
#define CUDART_PI_F         3.141592654f
#define CUDART_PIO2_F       1.570796327f
#define CUDART_PIO4_F       0.785398163f
#define CUDART_2_OVER_PI_F  0.636619772f
#define CUDART_SQRT_TWO_F   1.414213562f
#define CUDART_L2E_F        1.442695041f
#define CUDART_LN2_F        0.693147181f
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_MIN_DENORM_F 1.401298464e-45f

#define CUDART_INF      __builtin_inf()
#define CUDART_NAN      __builtin_nan("")
#define CUDART_PI       3.1415926535897931
#define CUDART_PIO2     1.5707963267948966
#define CUDART_PIO4     0.78539816339744828
#define CUDART_SQRT_TWO 1.4142135623730951
#define CUDART_L2E      1.4426950408889634
#define CUDART_LN2      0.69314718055994531

#endif
