/** Settings for queries that read few rows, whose time is mostly planning. */

/**
 * Planning dominates the cost of a page. The engine's older analyzer plans it in two thirds of the time (measured:
 * 3.9 ms a page instead of 6.2). Parallel formatting would start threads for 100 rows.
 */
export const pageSettings = "enable_analyzer = 0, output_format_parallel_formatting = 0";

/** For queries that read few rows: parallel reading, which speeds up large queries, costs them a millisecond of ten. */
export const fewRowsSettings = `${pageSettings}, max_threads = 1, local_filesystem_read_method = 'pread'`;

/**
 * For queries that the primary key answers: skip indexes would add a read in each part, and reading the columns of each
 * condition in a step of its own a tenth of the time.
 */
export const inOrderSettings = `${fewRowsSettings}, use_skip_indexes = 0, enable_multiple_prewhere_read_steps = 0`;
