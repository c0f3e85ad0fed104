/* The part of the CUDA samples' helpers that reads the command line: words like -name, --name and
 * --name=value. The text is our own; only the names are the samples'. */
#ifndef TYTO_HELPER_STRING_H
#define TYTO_HELPER_STRING_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#define STRCASECMP  strcasecmp
#define STRNCASECMP strncasecmp

/* The text after "name=" on the command line, "" if there is no '='; NULL: the name is missing. */
static inline const char *tyto_argument(int count, const char **words, const char *name) {
    size_t length = std::strlen(name);
    for (int i = 1; i < count; i++) {
        const char *word = words[i] + std::strspn(words[i], "-");
        if (word == words[i] || strncasecmp(word, name, length) != 0) continue;
        if (word[length] == '=') return word + length + 1;
        if (word[length] == '\0') return "";
    }
    return NULL;
}
static inline bool checkCmdLineFlag(int count, const char **words, const char *name) {
    return tyto_argument(count, words, name) != NULL;
}
static inline int getCmdLineArgumentInt(int count, const char **words, const char *name) {
    const char *value = tyto_argument(count, words, name);
    return value ? std::atoi(value) : 0;
}
static inline float getCmdLineArgumentFloat(int count, const char **words, const char *name) {
    const char *value = tyto_argument(count, words, name);
    return value ? (float)std::atof(value) : 0;
}
static inline bool getCmdLineArgumentString(int count, const char **words, const char *name,
                                            char **out) {
    *out = (char *)tyto_argument(count, words, name);
    return *out != NULL;
}

/* The number after a name, of the requested type; false: the name is missing. */
template <class T>
static inline bool getCmdLineArgumentValue(int count, const char **words, const char *name,
                                           T *out) {
    const char *value = tyto_argument(count, words, name);
    if (value) *out = (T)std::atof(value);
    return value != NULL;
}
static inline int stringRemoveDelimiter(char delimiter, const char *word) {
    int start = 0;
    while (word[start] == delimiter)
        start++;
    return word[start] ? start : 0;
}
static inline int getFileExtension(char *path, char **extension) {
    char *point = std::strrchr(path, '.');
    *extension = point ? point + 1 : path + std::strlen(path);
    return (int)(*extension - path);
}

/* The path of the file itself, else of the file with that name in ./data; NULL: neither exists. */
static inline char *sdkFindFilePath(const char *name, const char *) {
    static const char *const folders[] = {"", "data/", "../data/"};
    for (const char *folder : folders) {
        size_t size = std::strlen(folder) + std::strlen(name) + 1;
        char *path = (char *)std::malloc(size);
        std::snprintf(path, size, "%s%s", folder, name);
        std::FILE *file = std::fopen(path, "r");
        if (file) {
            std::fclose(file);
            return path;
        }
        std::free(path);
    }
    return NULL;
}

#endif
