/** Settings for queries that read little, whose time is mostly planning. */

/**
 * Most of what a page costs is planning it, for which the engine's older analyzer takes two thirds as
 * long (measured: 3.9 ms a page instead of 6.2); and threads of its own to write rows of 100.
 */
export const pageSettings = "enable_analyzer = 0, output_format_parallel_formatting = 0";

/** For queries that read little: what makes large ones fast costs those a millisecond of ten. */
export const fewRowsSettings = `${pageSettings}, max_threads = 1, local_filesystem_read_method = 'pread'`;

/** The same of what a table's order finds: other indexes are one more place to read in each part. */
export const inOrderSettings = `${fewRowsSettings}, use_skip_indexes = 0`;
