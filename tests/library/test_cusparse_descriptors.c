/* Descriptors and settings of our cuSPARSE, and what it refuses. */
#include "sparse_case.h"

/* ---- Descriptors ---- */

static void descriptors_return_what_they_were_made_of(void **state) {
    (void)state;
    int64_t rows, columns, count, lead;
    void *major, *minor, *values, *const place = (void *)(uintptr_t)0x1000;
    const void *constant[3];
    cusparseIndexType_t types[2];
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseOrder_t order;
    cusparseFormat_t format;
    cusparseSpMatDescr_t a;
    cusparseConstSpMatDescr_t b;
    int batches;
    check(cusparseCreateCsr(&a, 4, 5, 6, place, NULL, NULL, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                            CUSPARSE_INDEX_BASE_ONE, CUDA_C_32F));
    check(cusparseCsrSetPointers(a, NULL, place, NULL));
    check(cusparseSpMatSetValues(a, place));
    check(cusparseCsrGet(a, &rows, &columns, &count, &major, &minor, &values, &types[0], &types[1],
                         &base, &type));
    assert_true(rows == 4 && columns == 5 && count == 6 && !major && minor == place &&
                values == place && types[0] == CUSPARSE_INDEX_64I &&
                types[1] == CUSPARSE_INDEX_64I && base == CUSPARSE_INDEX_BASE_ONE &&
                type == CUDA_C_32F);
    assert_int_equal(cusparseCscGet(a, &rows, &columns, &count, &major, &minor, &values, &types[0],
                                    &types[1], &base, &type),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCooSetPointers(a, place, place, place), CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseSpMatGetFormat(a, &format));
    check(cusparseSpMatGetIndexBase(a, &base));
    assert_true(format == CUSPARSE_FORMAT_CSR && base == CUSPARSE_INDEX_BASE_ONE);
    check(cusparseCsrSetStridedBatch(a, 2, 5, 6));
    check(cusparseSpMatGetStridedBatch(a, &batches));
    assert_int_equal(batches, 2);
    assert_int_equal(cusparseCsrSetStridedBatch(a, 2, 4, 6), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCsrSetStridedBatch(a, 2, 5, 5), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCooSetStridedBatch(a, 2, 6), CUSPARSE_STATUS_INVALID_VALUE);
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_UNIT;
    check(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    fill = CUSPARSE_FILL_MODE_LOWER;
    check(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    assert_true(fill == CUSPARSE_FILL_MODE_UPPER && diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT);
    assert_int_equal(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, 8),
                     CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseDestroySpMat(a));

    check(cusparseCreateConstCsc(&b, 4, 5, 6, place, place, place, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseConstCscGet(b, &rows, &columns, &count, &constant[0], &constant[1], &constant[2],
                              &types[0], &types[1], &base, &type));
    assert_true(constant[0] == place && constant[2] == place && type == CUDA_R_64F);
    check(cusparseDestroySpMat(b));
    check(cusparseCreateConstCoo(&b, 4, 5, 6, place, place, place, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check(cusparseConstCooGet(b, &rows, &columns, &count, &constant[0], &constant[1], &constant[2],
                              &types[0], &base, &type));
    assert_true(count == 6 && constant[1] == place && types[0] == CUSPARSE_INDEX_32I);
    check(cusparseConstSpMatGetValues(b, &constant[0]));
    check(cusparseDestroySpMat(b));

    cusparseConstDnMatDescr_t c;
    check(cusparseCreateConstDnMat(&c, 4, 5, 7, place, CUDA_R_16F, CUSPARSE_ORDER_ROW));
    check(cusparseConstDnMatGet(c, &rows, &columns, &lead, &constant[0], &type, &order));
    assert_true(rows == 4 && columns == 5 && lead == 7 && constant[0] == place &&
                type == CUDA_R_16F && order == CUSPARSE_ORDER_ROW);
    check(cusparseDnMatGetStridedBatch(c, &batches, &count));
    assert_true(batches == 1 && count == 0);
    check(cusparseDestroyDnMat(c));

    cusparseConstSpVecDescr_t x;
    check(cusparseCreateConstSpVec(&x, 9, 3, place, NULL, CUSPARSE_INDEX_64I,
                                   CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    check(cusparseConstSpVecGet(x, &rows, &count, &constant[0], &constant[1], &types[0], &base,
                                &type));
    assert_true(rows == 9 && count == 3 && constant[0] == place && !constant[1] &&
                types[0] == CUSPARSE_INDEX_64I && base == CUSPARSE_INDEX_BASE_ONE);
    check(cusparseSpVecGetIndexBase(x, &base));
    check(cusparseDestroySpVec(x));

    cusparseConstDnVecDescr_t y;
    check(cusparseCreateConstDnVec(&y, 9, place, CUDA_R_32F));
    check(cusparseConstDnVecGet(y, &rows, &constant[0], &type));
    assert_true(rows == 9 && constant[0] == place && type == CUDA_R_32F);
    check(cusparseDestroyDnVec(y));

    cusparseMatDescr_t old;
    check(cusparseCreateMatDescr(&old));
    check(cusparseSetMatType(old, CUSPARSE_MATRIX_TYPE_HERMITIAN));
    check(cusparseSetMatIndexBase(old, CUSPARSE_INDEX_BASE_ONE));
    check(cusparseSetMatFillMode(old, CUSPARSE_FILL_MODE_UPPER));
    assert_int_equal(cusparseGetMatType(old), CUSPARSE_MATRIX_TYPE_HERMITIAN);
    assert_int_equal(cusparseGetMatIndexBase(old), CUSPARSE_INDEX_BASE_ONE);
    assert_int_equal(cusparseGetMatFillMode(old), CUSPARSE_FILL_MODE_UPPER);
    assert_int_equal(cusparseGetMatDiagType(old), CUSPARSE_DIAG_TYPE_NON_UNIT);
    assert_int_equal(cusparseSetMatType(old, (cusparseMatrixType_t)4),
                     CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseDestroyMatDescr(old));
}

/* As in NVIDIA's library (cuSPARSE 12.6 of CUDA 13.0). */
static void what_cannot_be_made_is_refused(void **state) {
    (void)state;
    void *const p = (void *)(uintptr_t)0x1000;
    static const struct {
        int64_t rows, columns, count;
        int offsets, indices, base, type, status;
    } rows[] = {
        {4, 5, 20, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_SUCCESS},
        {4, 5, 21, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {-1, 5, 0, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {0, 5, 1, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {INT64_MAX, INT64_MAX, 9, 2, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_SUCCESS},
        {4, 5, 6, 3, 2, 0, CUDA_R_32F, CUSPARSE_STATUS_NOT_SUPPORTED},
        {4, 5, 6, 1, 1, 0, CUDA_R_32F, CUSPARSE_STATUS_NOT_SUPPORTED},
        {4, 5, 6, 2, 2, 2, CUDA_R_32F, CUSPARSE_STATUS_INVALID_VALUE},
        {4, 5, 6, 2, 2, 0, CUDA_R_8I, CUSPARSE_STATUS_SUCCESS},
        {4, 5, 6, 2, 2, 0, 16, CUSPARSE_STATUS_INVALID_VALUE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cusparseSpMatDescr_t a = NULL;
        assert_int_equal(cusparseCreateCsr(&a, rows[i].rows, rows[i].columns, rows[i].count, p, p,
                                           p, (cusparseIndexType_t)rows[i].offsets,
                                           (cusparseIndexType_t)rows[i].indices,
                                           (cusparseIndexBase_t)rows[i].base,
                                           (cudaDataType)rows[i].type),
                         rows[i].status);
        check(cusparseDestroySpMat(a));
    }
    cusparseDnMatDescr_t b = NULL;
    cusparseDnVecDescr_t y = NULL;
    cusparseSpVecDescr_t x = NULL;
    assert_int_equal(cusparseCreateDnMat(&b, 4, 5, 3, p, CUDA_R_32F, CUSPARSE_ORDER_COL),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnMat(&b, 4, 5, 4, p, CUDA_R_32F, CUSPARSE_ORDER_ROW),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnMat(&b, 4, 5, 5, p, CUDA_R_32F, (cusparseOrder_t)3),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnVec(&y, -1, p, CUDA_R_32F), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateDnVec(NULL, 1, p, CUDA_R_32F), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreateSpVec(&x, 5, 6, p, p, CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseSpMatGetSize(NULL, NULL, NULL, NULL), CUSPARSE_STATUS_INVALID_VALUE);
}

/* Each row changes one thing in a product that is accepted. */
static void what_cannot_be_multiplied_is_refused(void **state) {
    (void)state;
    enum {
        NOTHING,
        NO_HANDLE,
        NO_ALPHA,
        NO_MATRIX,
        SIZE,
        OPERATION,
        ALGORITHM,
        TYPE,
        COMPUTE,
        VECTOR_TYPE,
        BATCH,
        BUFFER
    };
    static const struct {
        int what, status;
    } rows[] = {
        {NOTHING, CUSPARSE_STATUS_SUCCESS},         {NO_HANDLE, CUSPARSE_STATUS_INVALID_VALUE},
        {NO_ALPHA, CUSPARSE_STATUS_INVALID_VALUE},  {NO_MATRIX, CUSPARSE_STATUS_INVALID_VALUE},
        {SIZE, CUSPARSE_STATUS_INVALID_VALUE},      {OPERATION, CUSPARSE_STATUS_INVALID_VALUE},
        {ALGORITHM, CUSPARSE_STATUS_INVALID_VALUE}, {TYPE, CUSPARSE_STATUS_NOT_SUPPORTED},
        {COMPUTE, CUSPARSE_STATUS_NOT_SUPPORTED},   {VECTOR_TYPE, CUSPARSE_STATUS_NOT_SUPPORTED},
        {BATCH, CUSPARSE_STATUS_NOT_SUPPORTED},     {BUFFER, CUSPARSE_STATUS_INVALID_VALUE},
    };
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int what = rows[i].what;
        float one = 1;
        cudaDataType type = what == TYPE ? CUDA_R_8I : CUDA_R_32F;
        int32_t lists[] = {0, 1, 1, 0, 1};
        char *there = upload(lists, sizeof lists);
        static const double zeros[8];
        void *numbers = upload(zeros, sizeof zeros);
        cusparseSpMatDescr_t a;
        cusparseDnVecDescr_t x, y;
        check(cusparseCreateCsr(&a, 2, 2, 1, there, there + 12, numbers, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
        check(cusparseCreateDnVec(&x, what == SIZE ? 3 : 2, numbers,
                                  what == VECTOR_TYPE ? CUDA_R_64F : type));
        check(cusparseCreateDnVec(&y, 2, upload(zeros, sizeof zeros), type));
        if (what == BATCH) check(cusparseCsrSetStridedBatch(a, 2, 0, 0));
        cusparseOperation_t op = what == OPERATION ? (cusparseOperation_t)3
                                 : what == BUFFER  ? CUSPARSE_OPERATION_TRANSPOSE
                                                   : CUSPARSE_OPERATION_NON_TRANSPOSE;
        assert_int_equal(
            cusparseSpMV(
                what == NO_HANDLE ? NULL : handle, op, what == NO_ALPHA ? NULL : &one,
                what == NO_MATRIX ? NULL : a, x, &one, y, what == COMPUTE ? CUDA_R_64F : CUDA_R_32F,
                what == ALGORITHM ? (cusparseSpMVAlg_t)7 : CUSPARSE_SPMV_ALG_DEFAULT, NULL),
            rows[i].status);
        check(cusparseDestroySpMat(a));
        check(cusparseDestroyDnVec(x));
        check(cusparseDestroyDnVec(y));
        free_all();
    }
}

static void handles_have_settings(void **state) {
    (void)state;
    int version = 0, part = 0;
    cudaStream_t stream = NULL;
    CUstream made;
    cusparsePointerMode_t mode;
    check(cusparseGetVersion(handle, &version));
    assert_int_equal(version, CUSPARSE_VERSION);
    check(cusparseGetProperty(MAJOR_VERSION, &part));
    assert_int_equal(part, CUSPARSE_VER_MAJOR);
    assert_int_equal(cusparseGetProperty((libraryPropertyType)7, &part),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cuStreamCreate(&made, 0), CUDA_SUCCESS);
    check(cusparseSetStream(handle, made));
    check(cusparseGetStream(handle, &stream));
    assert_ptr_equal(stream, made);
    int numbers[3], *there = device_alloc(sizeof numbers);
    check(cusparseCreateIdentityPermutation(handle, 3, there));
    download(numbers, there, sizeof numbers);
    assert_int_equal(numbers[2], 2);
    free_all();
    check(cusparseSetStream(handle, NULL));
    assert_int_equal(cuStreamDestroy(made), CUDA_SUCCESS);
    check(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE));
    check(cusparseGetPointerMode(handle, &mode));
    assert_int_equal(mode, CUSPARSE_POINTER_MODE_DEVICE);
    assert_int_equal(cusparseSetPointerMode(handle, (cusparsePointerMode_t)2),
                     CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseSetStream(NULL, NULL), CUSPARSE_STATUS_INVALID_VALUE);
    assert_int_equal(cusparseCreate(NULL), CUSPARSE_STATUS_INVALID_VALUE);
    check(cusparseDestroy(NULL));
    assert_string_equal(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT),
                        "CUSPARSE_STATUS_ZERO_PIVOT");
    assert_string_equal(cusparseGetErrorString(CUSPARSE_STATUS_SUCCESS), "success");
    assert_string_equal(cusparseGetErrorName((cusparseStatus_t)12), "unknown status");
    check(cusparseLoggerSetLevel(2));
    assert_int_equal(cusparseLoggerSetLevel(6), CUSPARSE_STATUS_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_return_what_they_were_made_of),
        cmocka_unit_test(what_cannot_be_made_is_refused),
        cmocka_unit_test(what_cannot_be_multiplied_is_refused),
        cmocka_unit_test(handles_have_settings),
    };
    return cmocka_run_group_tests(tests, open_handle, close_handle);
}
