/* Says that a program needs nvcc. */
#error "tyto cc has no cooperative groups with clang; build this file with nvcc -cudart shared"
