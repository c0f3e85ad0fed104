/* A host program for the tests: `ending MODE [STATUS]` launches kernels and ends as MODE says. The
 * row of a mode describes what it does after its launches. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tyto/cuda.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry work(){ .reg .u32 r; mov.u32 r, %tid.x; ret; }\n"
                          ".visible .entry spin(){ .reg .u32 r; L: add.u32 r, r, 1; bra L; }\n"
                          ".visible .entry wrong(){ .reg .u64 a; .reg .u32 r; mov.u64 a, 64;\n"
                          "  mov.u32 r, 1; st.global.u32 [a], r; ret; }\n";

static CUcontext context;
static CUfunction kernel;
static int given_status; /* exit status of the program */
static char *own_path;

static void check(CUresult status, const char *what) {
    if (status == CUDA_SUCCESS) return;
    fprintf(stderr, "%s: %d\n", what, (int)status);
    exit(9);
}

static void start_kernel(const char *name) {
    CUmodule module;
    check(cuInit(0), "cuInit");
    check(cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate");
    check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&kernel, module, name), "cuModuleGetFunction");
}

static void start(void) { start_kernel("work"); }

static void launch(unsigned blocks, CUstream stream) {
    check(cuLaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, 0, stream, NULL, NULL), "cuLaunchKernel");
}

/* What most modes do first. */
static void work(void) {
    start();
    launch(1, NULL);
    launch(2, NULL);
    check(cuCtxSynchronize(), "cuCtxSynchronize");
}

static void end_return(void) { work(); }

static void end_exit_at_once(void) {
    work();
    _exit(given_status);
}

static void end_quick_exit(void) {
    work();
    quick_exit(given_status);
}

static void end_abort(void) {
    work();
    abort();
}

static void end_crash(void) {
    work();
    raise(SIGSEGV);
}

static void end_kill(void) {
    work();
    raise(SIGKILL);
}

static void end_hangup(void) {
    work();
    raise(SIGHUP);
    pause();
}

static void end_exec(void) {
    work();
    execl(own_path, own_path, "nothing", NULL);
}

static void end_exec_again(void) {
    work();
    execl(own_path, own_path, "return", NULL);
}

static void *launch_apart(void *nothing) {
    (void)nothing;
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    launch(2, NULL);
    return NULL;
}

/* The first thread ends before another does. */
static void end_first_thread(void) {
    pthread_t thread;
    start();
    launch(1, NULL);
    if (pthread_create(&thread, NULL, launch_apart, NULL)) exit(9);
    pthread_exit(NULL);
}

static void *launch_often(void *nothing) {
    (void)nothing;
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (;;) {
        launch(4, NULL);
        pthread_testcancel();
    }
    return NULL;
}

/* Threads are cancelled in the middle of their launches; the first thread then launches. */
static void end_cancelled(void) {
    start();
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, launch_often, NULL)) exit(9);
        usleep(2000 + 100 * (useconds_t)i);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    launch(2, NULL);
}

static sigjmp_buf outside;

static void leave(int number) {
    (void)number;
    siglongjmp(outside, 1);
}

/* A signal handler exits from a launch that does not end. */
static void end_left(void) {
    start_kernel("spin");
    signal(SIGALRM, leave);
    if (!sigsetjmp(outside, 1)) {
        ualarm(200000, 0);
        launch(1, NULL);
        cuCtxSynchronize();
    }
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

static void end_nothing(void) {}

/* A kernel accesses an invalid address; the launch is repeated. */
static void end_wrong(void) {
    start_kernel("wrong");
    launch(1, NULL);
    launch(1, NULL);
    _exit(given_status);
}

/* A launch that waits in a stream. The program never asks for its result. */
static void end_waiting(void) {
    CUstream stream;
    work();
    check(cuStreamCreate(&stream, 1), "cuStreamCreate");
    launch(3, stream);
    _exit(given_status);
}

/* Closes all files and opens one of its own. Nothing else may write to that file. */
static void end_closed(void) {
    char line[64] = "";
    start();
    for (int i = 3; i < 256; i++)
        close(i);
    FILE *own = fopen("own", "w+");
    for (unsigned i = 0; i < 300; i++) /* more than fit in the journal's initial space */
        launch(1, NULL);
    if (!own || fgets(line, sizeof line, own) || *line) exit(9);
    _exit(given_status);
}

static void start_child(void (*function)(void)) {
    pid_t child = fork();
    if (child == 0) {
        function();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* As Python's multiprocessing does: the children use CUDA and end at once. */
static void end_children(void) {
    start_child(work);
    start_child(work);
}

/* The parent only initializes CUDA; it launches nothing. */
static void end_looking(void) {
    start_child(work);
    start();
}

static void end_both(void) {
    start_child(work);
    work();
}

static void launch_late(void) { launch(3, NULL); }

/* Launches a kernel after the results have been written. */
static void end_late(void) {
    atexit(launch_late);
    work();
}

static void end_bare(void) {
    if (clearenv()) exit(9);
    work();
}

static void end_interrupted(void) {
    work();
    puts("ready");
    fflush(stdout);
    pause();
}

static const struct {
    const char *name;
    void (*end)(void);
} modes[] = {{"return", end_return},
             {"_exit", end_exit_at_once},
             {"quick_exit", end_quick_exit},
             {"abort", end_abort},
             {"crash", end_crash},
             {"kill", end_kill},
             {"hangup", end_hangup},
             {"exec", end_exec},
             {"exec_again", end_exec_again},
             {"first_thread", end_first_thread},
             {"nothing", end_nothing},
             {"wrong", end_wrong},
             {"waiting", end_waiting},
             {"closed", end_closed},
             {"children", end_children},
             {"looking", end_looking},
             {"both", end_both},
             {"late", end_late},
             {"bare", end_bare},
             {"cancelled", end_cancelled},
             {"left", end_left},
             {"interrupted", end_interrupted}};

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    own_path = argv[0];
    given_status = argc > 2 ? atoi(argv[2]) : 0;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, argv[1]) != 0) continue;
        modes[i].end();
        return given_status;
    }
    return 64;
}
