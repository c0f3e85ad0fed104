/* The calibration kernels: programs that the peer simulator ran, against the same runs here. */
#ifndef TYTO_TESTS_FIDELITY_CALIBRATION_H
#define TYTO_TESTS_FIDELITY_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

enum { CALIBRATION_FIGURES = 9, CALIBRATION_DRAM = 7 /* the first that DRAM counts */ };

/* A figure of the peer's that was not recorded. */
#define CALIBRATION_UNKNOWN UINT64_MAX

/* A figure of every run. */
typedef struct CalibrationFigure {
    const char *what;
    double allowed; /* difference as a share of the peer's; 0: shown only */
    double modern;  /* the same for machines of Volta's and Ampere's kind */
} CalibrationFigure;

extern const CalibrationFigure calibration_figures[CALIBRATION_FIGURES];

/* A run of the peer. */
typedef struct Calibration {
    const char *machine;   /* NULL: gtx480 */
    const char *kernel;    /* file in kernels/ */
    const char *scheduler; /* as it is called here */
    const char *setting;   /* of our machine, to compare DRAM counts; NULL: as it is, for all */
    uint64_t theirs[CALIBRATION_FIGURES];
    const char *note; /* why a figure is further off than is allowed; NULL: none must be */
} Calibration;

extern const Calibration calibrations[], modern_calibrations[];
extern const int calibration_count, modern_calibration_count;

/* The same run here. */
typedef struct CalibrationResult {
    uint64_t ours[CALIBRATION_FIGURES];
    uint64_t low[CALIBRATION_FIGURES]; /* bounds over launches that begin on other SMs; */
    /* they are the figure itself where that makes no difference */
    uint64_t high[CALIBRATION_FIGURES];
    bool is_right; /* the kernels' results */
} CalibrationResult;

CalibrationResult calibration_run(const char *folder, const Calibration *run);

#endif
