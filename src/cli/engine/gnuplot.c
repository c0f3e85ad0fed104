/* Draws pictures with gnuplot (see the header). */
#include "cli/engine/gnuplot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/program.h"

void gnuplot_write_label(const char *text, FILE *to) {
    fputc('\t', to);
    for (; *text; text++) {
        if (*text == '"') fputs("\u201d", to);
        else fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
}

/* The part of a file's name after its last dot; NULL: none. */
static const char *ending_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : NULL;
}

bool gnuplot_check_path(const char *path) {
    const char *ending = path ? ending_of(path) : NULL;
    if (!ending || strcmp(ending, "svg") == 0 || strcmp(ending, "pdf") == 0) return true;
    say_error("--plot %s: the file must end in .svg or .pdf", path);
    return false;
}

void gnuplot_write_terminal(const char *path, int width, int height, FILE *to) {
    const char *ending = ending_of(path);
    if (ending && strcmp(ending, "pdf") == 0) /* inches of 96 pixels, as in SVG */
        fprintf(to, "set terminal pdfcairo size %.3fin,%.3fin font 'sans-serif,8' noenhanced\n",
                width / 96.0, height / 96.0);
    else
        fprintf(to,
                "set terminal svg size %d,%d font 'sans-serif,11' background 'white' noenhanced\n",
                width, height);
    fprintf(to, "set datafile missing 'NaN'\nset datafile separator tab\n"
                "set datafile commentschars ''\n");
}

/* Okabe and Ito's palette for the colour-blind (Color Universal Design, 2008), its yellow darkened
 * to be seen on white, then darker and lighter ones of the same hues; marks differ too. */
void gnuplot_write_colours(FILE *to) {
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#000000", "#b8a900",
                                          "#004066", "#7f3800", "#00543d", "#999999"};
    static const int marks[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12, 1, 2};
    for (int i = 0; i < 12; i++)
        fprintf(to, "set linetype %d linewidth 1.5 pointsize 0.6 linecolor rgb '%s' pointtype %d\n",
                i + 1, colours[i], marks[i]);
    fprintf(to, "set linetype cycle 12\n");
}

void gnuplot_write_settings(const char *path, int width, int height, FILE *to) {
    gnuplot_write_terminal(path, width, height, to);
    gnuplot_write_colours(to);
    fprintf(to, "set title ARG2 noenhanced\nset ylabel ARG3 noenhanced\n"
                "set grid ytics linecolor rgb '#dddddd' linetype 1 linewidth 0.5\nset border 3\n"
                "set tics nomirror\nset key outside below noenhanced\n");
}

/* Makes a file in memory, which other programs open by `path`. NULL after a message. */
static FILE *open_memory(const char *name, char path[32]) {
    int descriptor = memfd_create(name, 0);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!file) say_error("cannot make a file in memory: %s", strerror(errno));
    snprintf(path, 32, "/dev/fd/%d", descriptor);
    return file;
}

/* Reads everything that a program writes to the pipe: *length bytes, which the caller frees. */
static char *read_pipe(int descriptor, size_t *length) {
    char *bytes = NULL, chunk[1 << 14];
    FILE *all = open_memstream(&bytes, length);
    ssize_t count;
    while (all &&
           ((count = read(descriptor, chunk, sizeof chunk)) > 0 || (count < 0 && errno == EINTR)))
        if (count > 0) fwrite(chunk, 1, (size_t)count, all);
    if (all) fclose(all);
    return bytes;
}

/* Runs in the new process. Option -d ignores the user's start file, which could change a figure.
 * gnuplot's messages (warnings about a graph with a single point, for example) are shown only if it
 * fails. */
static void become_gnuplot(int output, int said, const char *script, const char *data,
                           const Picture *picture) {
    if (dup2(output, STDOUT_FILENO) < 0) _exit(EXIT_FAILED);
    if (said >= 0) dup2(said, STDERR_FILENO);
    execlp("gnuplot", "gnuplot", "-d", "-c", script, data, picture->title, picture->texts,
           (char *)NULL);
    _exit(EXIT_FAILED);
}

/* Writes the contents of a file in memory to stderr. */
static void repeat(int file) {
    char chunk[1 << 12];
    ssize_t count;
    if (file < 0 || lseek(file, 0, SEEK_SET) != 0) return;
    while ((count = read(file, chunk, sizeof chunk)) > 0)
        fwrite(chunk, 1, (size_t)count, stderr);
}

/* Runs gnuplot and returns the picture; NULL after a message. */
static char *draw(const char *script, const char *data, const Picture *of, size_t *length) {
    int ends[2], status = -1;
    if (pipe(ends) != 0) {
        say_error("cannot start gnuplot: %s", strerror(errno));
        return NULL;
    }
    int said = memfd_create("said", MFD_CLOEXEC);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) become_gnuplot(ends[1], said, script, data, of);
    close(ends[1]);
    char *picture = read_pipe(ends[0], length);
    close(ends[0]);
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    bool is_drawn = picture && status == 0;
    if (!is_drawn) {
        say_error("gnuplot could not draw %s", of->path);
        repeat(said);
        free(picture);
    }
    if (said >= 0) close(said);
    return is_drawn ? picture : NULL;
}

/* Writes a text for XML: escapes letters that begin markup, and replaces letters that XML excludes.
 */
static void write_xml(const char *text, FILE *to) {
    for (; *text; text++) {
        if (*text == '<') fputs("&lt;", to);
        else if (*text == '>') fputs("&gt;", to);
        else if (*text == '&') fputs("&amp;", to);
        else fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
    }
}

static void write_element(const char *name, const char *text, FILE *to) {
    fprintf(to, "<%s>", name);
    write_xml(text, to);
    fprintf(to, "</%s>", name);
}

/* Replaces the title of an SVG, which is gnuplot's name, by the picture's title and the command
 * that drew it. Frees `drawn`. */
static char *sign(const Picture *picture, char *drawn, size_t *length) {
    static const char named[] = "<title>Gnuplot</title>";
    char *title = drawn ? strstr(drawn, named) : NULL, *is_signed = NULL;
    if (!title) return drawn; /* a PDF has no such title */
    const char *rest = title + strlen(named), *end = drawn + *length;
    FILE *to = open_memstream(&is_signed, length);
    if (!to) return drawn;
    char *command = words_join(picture->command);
    fwrite(drawn, 1, (size_t)(title - drawn), to);
    write_element("title", picture->title, to);
    fputc('\n', to);
    write_element("metadata", command, to);
    fwrite(rest, 1, (size_t)(end - rest), to);
    fclose(to);
    free(command);
    free(drawn);
    return is_signed;
}

bool gnuplot_draw(const Picture *picture) {
    char script_path[32], data_path[32], *drawn = NULL;
    size_t length;
    if (!program_exists("gnuplot")) {
        fprintf(stderr, "tyto: no plot: gnuplot is not installed (Debian's package gnuplot-nox)\n");
        return true;
    }
    FILE *script = open_memory("script", script_path);
    FILE *data = script ? open_memory("data", data_path) : NULL;
    if (data) {
        picture->write_script(picture->context, script);
        picture->write_data(picture->context, data);
        if (fflush(script) || fflush(data))
            say_error("cannot make a file in memory: %s", strerror(errno));
        else drawn = sign(picture, draw(script_path, data_path, picture, &length), &length);
    }
    if (data) fclose(data);
    if (script) fclose(script);
    bool is_written = drawn && file_write(picture->path, drawn, length);
    free(drawn);
    return is_written;
}
