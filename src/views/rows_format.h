/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats in which rows of views are printed and saved: their names, as options and the screen list them. The
 * functions are in export/.
 */
#ifndef BLK_VIEWS_ROWS_FORMAT_H
#define BLK_VIEWS_ROWS_FORMAT_H

/* What can be printed in a format. */
enum rows_use {
	ROWS_LINES,			/* rows of all views, and lines: of the log, of sessions, of a diagnosis */
	ROWS_VIEWS,			/* rows of all views */
	ROWS_PATHS,			/* rows of views with paths and their time: rows_can_fold() */
};
/* Where printed blocks (--each) tell their range. */
enum rows_range { RANGE_NOWHERE, RANGE_TITLE, RANGE_COLUMNS, RANGE_MEMBER };

/*
 * The formats of rows. All that lists or takes formats is made from this table: options, help, completions, man page,
 * what the screen saves. An entry without its function, rows_as_ID() in export/rows_print.c, does not compile.
 */
#define ROWS_FORMATS(X) /* FORMAT_NAME; the id for --format; the suffix of files; ROWS_use; RANGE_place */ \
	X(TEXT, text, txt, LINES, TITLE) X(CSV, csv, csv, VIEWS, COLUMNS) X(JSON, json, json, LINES, MEMBER) \
	X(FOLDED, folded, folded, PATHS, NOWHERE)
#define ROWS_FORMAT_ENUM_(name, id, suffix, use, range) FORMAT_##name,
/* What each prints, and CSV_SAFE: rows_print(). */
enum rows_format { ROWS_FORMATS(ROWS_FORMAT_ENUM_) ROWS_FORMAT_N, FORMAT_CSV_SAFE = ROWS_FORMAT_N };
/* Their ids, each after a blank: of all views, and of views with paths. */
#define ROWS_FORMAT_VIEWS_LINES(id) " " #id
#define ROWS_FORMAT_VIEWS_VIEWS(id) " " #id
#define ROWS_FORMAT_VIEWS_PATHS(id) ""
#define ROWS_FORMAT_VIEWS_(name, id, suffix, use, range) ROWS_FORMAT_VIEWS_##use(id)
#define ROWS_FORMAT_WORDS ROWS_FORMATS(ROWS_FORMAT_VIEWS_)
#define ROWS_FORMAT_PATHS_LINES(id) ""
#define ROWS_FORMAT_PATHS_VIEWS(id) ""
#define ROWS_FORMAT_PATHS_PATHS(id) " " #id
#define ROWS_FORMAT_PATHS_(name, id, suffix, use, range) ROWS_FORMAT_PATHS_##use(id)
#define ROWS_FORMAT_PATH_WORDS ROWS_FORMATS(ROWS_FORMAT_PATHS_)
/* The suffixes of files with rows of all views, each after a blank: " .txt .csv". */
#define ROWS_SUFFIX_LINES(suffix) " ." #suffix
#define ROWS_SUFFIX_VIEWS(suffix) " ." #suffix
#define ROWS_SUFFIX_PATHS(suffix) ""
#define ROWS_SUFFIX_(name, id, suffix, use, range) ROWS_SUFFIX_##use(suffix)
#define ROWS_SUFFIXES ROWS_FORMATS(ROWS_SUFFIX_)

#endif
