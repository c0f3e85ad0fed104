/* The calibration kernels: compares runs of the peer simulator with the same runs here. */
#ifndef TYTO_TESTS_FIDELITY_CALIBRATION_H
#define TYTO_TESTS_FIDELITY_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

enum { CALIBRATION_FIGURES = 9, CALIBRATION_DRAM = 7 /* index of the first DRAM count */ };

/* A figure that was not recorded for the peer. */
#define CALIBRATION_UNKNOWN UINT64_MAX

/* A figure of every run. */
typedef struct CalibrationFigure {
    const char *what;
    double allowed; /* allowed difference relative to the peer's figure; 0: shown only */
    double modern;  /* the same for machines like Volta and Ampere */
} CalibrationFigure;

extern const CalibrationFigure calibration_figures[CALIBRATION_FIGURES];

/* A run of the peer. */
typedef struct Calibration {
    const char *machine;   /* NULL: gtx480 */
    const char *kernel;    /* file in kernels/ */
    const char *scheduler; /* name in Tyto */
    const char *setting;   /* our setting, to compare only DRAM counts; NULL: none, all figures */
    uint64_t theirs[CALIBRATION_FIGURES];
    const char *note; /* why a figure may exceed the allowed difference; NULL: none may */
} Calibration;

extern const Calibration calibrations[], modern_calibrations[];
extern const int calibration_count, modern_calibration_count;

/* The same run here. */
typedef struct CalibrationResult {
    uint64_t ours[CALIBRATION_FIGURES];
    uint64_t low[CALIBRATION_FIGURES]; /* bounds over runs that start on other SMs, */
    /* equal to the figure if only one run is made */
    uint64_t high[CALIBRATION_FIGURES];
    bool is_right; /* whether the kernels' results are right */
} CalibrationResult;

CalibrationResult calibration_run(const char *folder, const Calibration *run);

#endif
