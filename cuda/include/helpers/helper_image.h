/* The part of the CUDA samples' helpers that reads, writes and compares images (PGM and PPM of 8
 * bits) and files of numbers. The text is our own; only the names are the samples'. If the caller
 * gives no memory, the functions allocate it with malloc. */
#ifndef TYTO_HELPER_IMAGE_H
#define TYTO_HELPER_IMAGE_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "helper_string.h"

/* ---- Images ---- */

/* The next number of a header, after blanks and comments; -1: none. */
static inline int tyto_image_number(std::FILE *file) {
    int number, c;
    while ((c = std::fgetc(file)) == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#')
        while (c == '#' && (c = std::fgetc(file)) != '\n' && c != EOF)
            c = '#';
    std::ungetc(c, file);
    return std::fscanf(file, "%d", &number) == 1 && number > 0 ? number : -1;
}

/* Reads an image into *data with `pixel_bytes` bytes per pixel. PGM has 1, PPM 3, to which a fourth
 * may be added. */
static inline bool tyto_load_image(const char *path, unsigned char **data, unsigned *width,
                                   unsigned *height, unsigned pixel_bytes) {
    std::FILE *file = path ? std::fopen(path, "rb") : NULL;
    if (!file) return false;
    char kind = 0;
    bool is_right = std::fscanf(file, "P%c", &kind) == 1 && (kind == '5' || kind == '6');
    int w = tyto_image_number(file), h = tyto_image_number(file), most = tyto_image_number(file);
    unsigned stored = kind == '5' ? 1 : 3;
    is_right = is_right && w > 0 && h > 0 && most > 0 && most < 256 &&
               (pixel_bytes == 1) == (stored == 1) && std::fgetc(file) != EOF;
    size_t pixels = is_right ? (size_t)w * h : 0;
    unsigned char *bytes = *data;
    if (is_right && !bytes) bytes = (unsigned char *)std::malloc(pixels * pixel_bytes);
    for (size_t i = 0; i < pixels && is_right; i++) {
        unsigned char *pixel = bytes + i * pixel_bytes;
        if (pixel_bytes > stored) pixel[stored] = 0;
        is_right = std::fread(pixel, stored, 1, file) == 1;
    }
    std::fclose(file);
    if (!is_right) {
        std::fprintf(stderr, "%s: not an image of %s, or cut short\n", path,
                     pixel_bytes == 1 ? "8-bit PGM" : "8-bit PPM");
        if (bytes != *data) std::free(bytes);
        return false;
    }
    *data = bytes;
    *width = (unsigned)w;
    *height = (unsigned)h;
    return true;
}

static inline bool tyto_save_image(const char *path, const unsigned char *data, unsigned width,
                                   unsigned height, unsigned pixel_bytes) {
    std::FILE *file = path ? std::fopen(path, "wb") : NULL;
    if (!file) return false;
    unsigned stored = pixel_bytes == 1 ? 1 : 3;
    bool is_right =
        std::fprintf(file, "P%c\n%u\n%u\n255\n", stored == 1 ? '5' : '6', width, height) > 0;
    for (size_t i = 0; i < (size_t)width * height && is_right; i++)
        is_right = std::fwrite(data + i * pixel_bytes, stored, 1, file) == 1;
    return std::fclose(file) == 0 && is_right;
}

/* Converts a pixel's number to the program's type and back; floats are in [0, 1]. */
static inline void tyto_pixel(unsigned char from, unsigned char *to) { *to = from; }
static inline void tyto_pixel(unsigned char from, float *to) { *to = from / 255.0f; }
static inline void tyto_pixel(float from, unsigned char *to) {
    *to = (unsigned char)(from * 255.0f);
}

template <class T>
static inline bool sdkLoadPGM(const char *path, T **data, unsigned *width, unsigned *height) {
    unsigned char *bytes = NULL;
    if (!tyto_load_image(path, &bytes, width, height, 1)) return false;
    size_t pixels = (size_t)*width * *height;
    if (!*data) *data = (T *)std::malloc(pixels * sizeof(T));
    for (size_t i = 0; i < pixels; i++)
        tyto_pixel(bytes[i], &(*data)[i]);
    std::free(bytes);
    return true;
}
template <class T>
static inline bool sdkSavePGM(const char *path, const T *data, unsigned width, unsigned height) {
    size_t pixels = (size_t)width * height;
    unsigned char *bytes = (unsigned char *)std::malloc(pixels ? pixels : 1);
    for (size_t i = 0; i < pixels; i++)
        tyto_pixel(data[i], &bytes[i]);
    bool is_right = tyto_save_image(path, bytes, width, height, 1);
    std::free(bytes);
    return is_right;
}
static inline bool sdkLoadPPM4ub(const char *path, unsigned char **data, unsigned *width,
                                 unsigned *height) {
    return tyto_load_image(path, data, width, height, 4);
}
static inline bool sdkLoadPPM4(const char *path, unsigned char **data, unsigned *width,
                               unsigned *height) {
    return sdkLoadPPM4ub(path, data, width, height);
}
static inline bool sdkSavePPM4ub(const char *path, const unsigned char *data, unsigned width,
                                 unsigned height) {
    return tyto_save_image(path, data, width, height, 4);
}
static inline bool sdkSavePPMub(const char *path, const unsigned char *data, unsigned width,
                                unsigned height) {
    return tyto_save_image(path, data, width, height, 3);
}

/* ---- Comparisons ---- */

/* Whether at most `threshold` (a share) of the numbers differ by more than `epsilon`. */
template <class T, class S>
static inline bool compareData(const T *expected, const T *got, unsigned count, S epsilon,
                               float threshold) {
    unsigned wrong = 0;
    for (unsigned i = 0; i < count; i++) {
        double difference = (double)expected[i] - (double)got[i];
        wrong += !(std::fabs(difference) <= (double)epsilon);
    }
    return threshold == 0.0f ? wrong == 0 : wrong <= (float)count * threshold;
}
template <class T, class S>
static inline bool compareDataAsFloatThreshold(const T *expected, const T *got, unsigned count,
                                               S epsilon, float threshold) {
    return compareData(expected, got, count, epsilon, threshold);
}
static inline bool tyto_compare_images(const char *one, const char *other, float epsilon,
                                       float threshold, bool is_told, unsigned pixel_bytes) {
    unsigned char *a = NULL, *b = NULL;
    unsigned wa = 0, ha = 0, wb = 0, hb = 0;
    bool is_same = tyto_load_image(one, &a, &wa, &ha, pixel_bytes) &&
                   tyto_load_image(other, &b, &wb, &hb, pixel_bytes) && wa == wb && ha == hb &&
                   compareData(a, b, wa * ha * pixel_bytes, epsilon, threshold);
    if (is_told) std::printf("%s and %s %s\n", one, other, is_same ? "agree" : "differ");
    std::free(a);
    std::free(b);
    return is_same;
}
static inline bool sdkComparePPM(const char *one, const char *other, float epsilon, float threshold,
                                 bool is_told) {
    return tyto_compare_images(one, other, epsilon, threshold, is_told, 4);
}
static inline bool sdkComparePGM(const char *one, const char *other, float epsilon, float threshold,
                                 bool is_told) {
    return tyto_compare_images(one, other, epsilon, threshold, is_told, 1);
}

/* ---- Files of numbers ---- */

/* Reads any number of numbers from text; sets *count. */
template <class T>
static inline bool sdkReadFile(const char *path, T **data, unsigned *count, bool) {
    std::FILE *file = path ? std::fopen(path, "r") : NULL;
    if (!file) return false;
    unsigned have = 0, room = 0;
    T *numbers = NULL;
    for (double number; std::fscanf(file, "%lf", &number) == 1; have++) {
        if (have == room) numbers = (T *)std::realloc(numbers, (room = 2 * room + 64) * sizeof(T));
        numbers[have] = (T)number;
    }
    std::fclose(file);
    if (*data) {
        std::memcpy(*data, numbers, (have < *count || !*count ? have : *count) * sizeof(T));
        std::free(numbers);
    } else {
        *data = numbers;
    }
    *count = have;
    return true;
}
template <class T, class S>
static inline bool sdkWriteFile(const char *path, const T *data, unsigned count, S, bool,
                                bool is_added = false) {
    std::FILE *file = path ? std::fopen(path, is_added ? "a" : "w") : NULL;
    if (!file) return false;
    for (unsigned i = 0; i < count; i++)
        std::fprintf(file, "%.9g ", (double)data[i]);
    std::fprintf(file, "\n");
    return std::fclose(file) == 0;
}
static inline void sdkDumpBin(const void *data, unsigned bytes, const char *path) {
    std::FILE *file = std::fopen(path, "wb");
    if (!file) return;
    std::fwrite(data, bytes, 1, file);
    std::fclose(file);
}
/* Reads the first `bytes` bytes of a file; false: it has fewer. */
static inline bool tyto_read_bytes(const char *path, void *data, size_t bytes) {
    std::FILE *file = path ? std::fopen(path, "rb") : NULL;
    if (!file) return false;
    bool is_right = std::fread(data, 1, bytes, file) == bytes;
    std::fclose(file);
    return is_right;
}
template <class T>
static inline bool tyto_compare_files(const char *one, const char *other, unsigned count,
                                      float epsilon, float threshold, const char *program) {
    char *path = sdkFindFilePath(other, program);
    T *a = (T *)std::malloc((size_t)count * sizeof(T) + 1);
    T *b = (T *)std::malloc((size_t)count * sizeof(T) + 1);
    bool is_same = tyto_read_bytes(one, a, (size_t)count * sizeof(T)) &&
                   tyto_read_bytes(path, b, (size_t)count * sizeof(T)) &&
                   compareData(a, b, count, epsilon, threshold);
    std::free(path);
    std::free(a);
    std::free(b);
    return is_same;
}
static inline bool sdkCompareBin2BinUint(const char *one, const char *other, unsigned count,
                                         float epsilon, float threshold, const char *program) {
    return tyto_compare_files<unsigned>(one, other, count, epsilon, threshold, program);
}
static inline bool sdkCompareBin2BinFloat(const char *one, const char *other, unsigned count,
                                          float epsilon, float threshold, const char *program) {
    return tyto_compare_files<float>(one, other, count, epsilon, threshold, program);
}

#endif
