const char *tyto_version(void);
typedef enum TytoStatus {
    TYTO_OK,
    TYTO_BAD_OPTION,
    TYTO_BAD_PTX,
    TYTO_BAD_ADDRESS,
    TYTO_OUT_OF_MEMORY,
    TYTO_BAD_LAUNCH,
    TYTO_KERNEL_FAILED,
    TYTO_INTERRUPTED,
    TYTO_BAD_FILE,
    TYTO_CHECKS_FAILED,
    TYTO_STOPPED
} TytoStatus;
const char *tyto_nearest(const char *word, const char *const *words, int count);
typedef struct TytoSimulator TytoSimulator;
TytoSimulator *tyto_new(int count, const char *const *options, char *message, size_t size_bytes);
void tyto_free(TytoSimulator *simulator);
const char *tyto_message(const TytoSimulator *simulator);
void tyto_interrupt(TytoSimulator *simulator);
typedef struct TytoModule TytoModule;
TytoStatus tyto_load(TytoSimulator *simulator, const char *name, const char *text, size_t length,
                     TytoModule **module);
void tyto_unload(TytoModule *module);
typedef struct TytoParameter {
    const char *name;
    const char *type;
    uint64_t size_bytes;
    uint64_t offset_bytes;
} TytoParameter;
typedef struct TytoKernel {
    const char *name;
    const TytoParameter *parameters;
    int parameter_count;
    uint32_t parameter_bytes;
    uint32_t registers;
    uint32_t shared_bytes;
    uint32_t local_bytes;
    uint32_t instructions;
    uint32_t max_threads;
    int line;
    const char *refusal;
    const char *source_name;
} TytoKernel;
int tyto_kernel_count(const TytoModule *module);
const TytoKernel *tyto_kernel(const TytoModule *module, int i);
int tyto_find_kernel(const TytoModule *module, const char *name);
TytoStatus tyto_alloc(TytoSimulator *simulator, uint64_t size, uint64_t *address);
TytoStatus tyto_release(TytoSimulator *simulator, uint64_t address);
TytoStatus tyto_write(TytoSimulator *simulator, uint64_t address, const void *bytes, uint64_t size);
TytoStatus tyto_read(TytoSimulator *simulator, uint64_t address, void *bytes, uint64_t size);
typedef struct TytoLaunch {
    TytoModule *module;
    int kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    const void *const *arguments;
    int argument_count;
    bool is_cooperative;
} TytoLaunch;
TytoStatus tyto_launch(TytoSimulator *simulator, const TytoLaunch *launch);
int tyto_result_count(TytoSimulator *simulator);
typedef enum TytoCounterKind { TYTO_SUM, TYTO_MAX, TYTO_RATIO } TytoCounterKind;
typedef struct TytoCounter {
    const char *name;
    const char *unit;
    const char *meaning;
    TytoCounterKind kind;
} TytoCounter;
int tyto_counter_count(void);
const TytoCounter *tyto_counter(int i);
int tyto_find_counter(const char *name);
typedef struct TytoValue {
    bool is_known;
    uint64_t count;
    double value;
} TytoValue;
TytoValue tyto_value(TytoSimulator *simulator, int launch, int counter);
char *tyto_report_json(TytoSimulator *simulator, const char *program);
char *tyto_launch_json(TytoSimulator *simulator, const char *program, int launch);
int tyto_machine_count(void);
const char *tyto_machine_name(int i);
char *tyto_machine_title(int i);
char *tyto_machine_text(const char *name, int set_count, const char *const *sets, char *message,
                        size_t size_bytes);
typedef struct TytoWarpView {
    uint64_t age;
    uint64_t instructions;
    uint64_t thread_instructions;
    uint8_t cta_slot;
    uint8_t index_in_cta;
} TytoWarpView;
typedef struct TytoCtaView {
    uint64_t index;
    uint64_t warps;
    uint64_t all;
    uint64_t launched;
} TytoCtaView;
typedef struct TytoSmView {
    uint32_t size;
    uint32_t warps_at;
    uint32_t warp_bytes;
    uint32_t ctas_at;
    uint32_t cta_bytes;
    uint64_t cycle;
    uint32_t sm;
    uint32_t sms;
    uint32_t warp_count;
    uint32_t cta_count;
    uint32_t cta_limit;
    uint32_t warps_per_cta;
    uint32_t schedulers;
    uint32_t pipeline_depth;
    uint32_t issue_interval;
    uint64_t scheduler_warps[4];
    uint64_t resident;
    uint64_t exited;
    uint64_t at_barrier;
    uint64_t has_instruction;
    uint64_t waits_memory;
    uint64_t wants_load;
    uint64_t ctas;
    bool last_cta_dispatched;
    uint64_t line_bytes;
    uint64_t older[64];
    TytoWarpView warp[64];
    TytoCtaView cta[32];
    uint64_t unit_full;
    uint64_t lsu_full;
    uint64_t mshrs_full;
    uint32_t l1d_mshrs_free;
    uint32_t l1d_misses_free;
    uint32_t l1d_mshrs;
    uint32_t l1d_places;
    bool (*prefetch)(void *unit, uint64_t address, uint32_t tag);
    void *unit;
    uint64_t at_mbarrier;
    uint64_t waits_other;
    uint32_t l1d_lines;
    uint64_t fill_bytes;
} TytoSmView;
typedef enum TytoEventKind {
    TYTO_EVENT_CTA_LAUNCHED,
    TYTO_EVENT_CTA_FINISHED,
    TYTO_EVENT_WARP_FINISHED,
    TYTO_EVENT_WARP_AT_BARRIER,
    TYTO_EVENT_BARRIER_RELEASED,
    TYTO_EVENT_LAST_CTA,
    TYTO_EVENT_L1D_HIT,
    TYTO_EVENT_L1D_MISS,
    TYTO_EVENT_L1D_EVICTED,
    TYTO_EVENT_L1D_STORED,
    TYTO_EVENT_L1D_FILLED,
    TYTO_EVENT_BRANCH,
    TYTO_EVENT_PREFETCH_SENT,
    TYTO_EVENT_PREFETCH_USED,
    TYTO_EVENT_PREFETCH_UNUSED,
    TYTO_EVENT_PREFETCH_DROPPED,
    TYTO_EVENTS
} TytoEventKind;
typedef struct TytoEvent {
    uint32_t size;
    TytoEventKind kind;
    int warp;
    int cta_slot;
    int owner;
    bool is_pending;
    bool is_divergent;
    uint64_t warps;
    uint64_t address;
    uint32_t pc;
    uint32_t owner_pc;
    uint32_t place;
    uint32_t target;
    uint32_t lanes_before;
    uint32_t lanes_after;
    uint32_t tag;
    uint32_t offset;
    bool repeats_line;
} TytoEvent;
typedef struct TytoIssue {
    uint32_t size;
    int warp;
    int scheduler;
    uint32_t lanes;
    bool is_load;
    bool is_long;
    uint32_t pc;
} TytoIssue;
typedef struct TytoMiss {
    uint32_t size;
    int warp;
    uint64_t address;
    uint32_t pc;
    uint32_t lanes;
    bool is_store;
} TytoMiss;
typedef struct TytoBridge {
    uint64_t events[64];
    bool inserts[64];
    void (*start)(int policy, const TytoSmView *view);
    int (*pick)(int policy, const TytoSmView *view, int scheduler, uint64_t ready);
    void (*issued)(int policy, const TytoSmView *view, const TytoIssue *issue);
    void (*event)(int policy, const TytoSmView *view, const TytoEvent *event);
    int (*insert)(int policy, const TytoSmView *view, const TytoMiss *miss);
} TytoBridge;
extern TytoBridge tyto_bridge;
void free(void *block);
