package dev.kakehashi.bulk.option;

import java.util.Locale;

/// Every option of `COPY`: where it may be used, and what its values are. README.md has the same table; a test keeps both equal.
public enum CopyOption {
  FORMAT(
      Use.BOTH,
      In.ALL,
      Kind.WORD,
      "text",
      "`text`, `csv`, `json` (dump), `parquet`, `arrow`, `arrow_stream`"),
  DELIMITER(Use.BOTH, In.TEXT, Kind.TEXT, "tab; csv: `,`", "between columns, one byte"),
  NULL(Use.BOTH, In.TEXT, Kind.TEXT, "`\\N`; csv: nothing", "what stands for null"),
  DEFAULT(Use.LOAD, In.TEXT, Kind.TEXT, "none", "what stands for the column's default"),
  HEADER(
      Use.BOTH,
      In.TEXT,
      Kind.WORD,
      "false",
      "first line with names: a Boolean, or of a load `match`, or how many lines are skipped"),
  QUOTE(Use.BOTH, In.CSV, Kind.TEXT, "`\"`", "around values, one byte"),
  ESCAPE(Use.BOTH, In.CSV, Kind.TEXT, "the quote", "before a quote within quotes, one byte"),
  FORCE_ARRAY(
      Use.DUMP, In.JSON, Kind.BOOLEAN, "false", "brackets around the rows, and commas between"),
  FORCE_QUOTE(Use.DUMP, In.CSV, Kind.NAMES, "none", "columns that are always in quotes, or `*`"),
  FORCE_NOT_NULL(Use.LOAD, In.CSV, Kind.NAMES, "none", "columns that are never null, or `*`"),
  FORCE_NULL(Use.LOAD, In.CSV, Kind.NAMES, "none", "columns that are null also in quotes, or `*`"),
  ENCODING(Use.BOTH, In.LINES, Kind.TEXT, "`UTF8`", "nothing else"),
  FREEZE(Use.LOAD, In.TEXT, Kind.BOOLEAN, "false", "accepted, and without effect"),
  ON_ERROR(
      Use.LOAD,
      In.ALL,
      Kind.WORD,
      "stop",
      "`stop`; `ignore`: rows that cannot be loaded are rejected; `set_null` (text, csv): values that cannot be converted are null"),
  REJECT_LIMIT(Use.LOAD, In.ALL, Kind.COUNT, "none", "most rejected rows; needs `on_error ignore`"),
  REJECT_RATIO(
      Use.LOAD,
      In.ALL,
      Kind.RATIO,
      "none",
      "most rejected of all rows, 0 … 1, judged after 1,000 rows and at the end; needs `on_error ignore`"),
  REJECT_FILE(
      Use.LOAD,
      In.ALL,
      Kind.TEXT,
      "none",
      "location of a file for rejected rows; needs `on_error ignore`"),
  LOG_VERBOSITY(
      Use.LOAD,
      In.ALL,
      Kind.WORD,
      "default",
      "`silent`, `default`, `verbose`: accepted, and without effect"),
  FILES(
      Use.LOAD,
      In.ALL,
      Kind.NAMES,
      "none",
      "several files or patterns below the location, in this order"),
  COMPRESSION(
      Use.BOTH,
      In.ALL,
      Kind.WORD,
      "text, csv, json: by the name's ending; else as `codec`",
      "text, csv, json: `none`, `gzip`, `zstd`, `auto`; else as `codec`"),
  CODEC(
      Use.DUMP,
      In.COLUMNAR,
      Kind.WORD,
      "parquet: `zstd`; arrow: `none`",
      "of the columns: `none`, `zstd`, `lz4`; parquet also `snappy`, `gzip`"),
  COLUMN_CODEC(
      Use.DUMP,
      In.PARQUET,
      Kind.NAMES,
      "none",
      "of single columns, `name codec` each; others stay as they are in row groups where the codec does not save a tenth"),
  ROW_GROUP_ROWS(
      Use.DUMP,
      In.COLUMNAR,
      Kind.COUNT,
      "parquet: 122880; arrow: 65536",
      "rows of a row group or record batch, 1024 … 1048576"),
  FILE_SIZE(
      Use.DUMP,
      In.ALL,
      Kind.BYTES,
      "none",
      "a longer file goes on in the next one, as `256MB`; the location is a directory"),
  PARTITION_BY(
      Use.DUMP,
      In.ALL,
      Kind.NAMES,
      "none",
      "columns whose values make a directory each; the location is a directory"),
  ORDER_BY(
      Use.DUMP,
      In.ALL,
      Kind.NAMES,
      "none",
      "columns to sort by, each with `asc` or `desc` after it if it is said"),
  OVERWRITE(Use.DUMP, In.ALL, Kind.BOOLEAN, "false", "files that are there are replaced"),
  MATCH_BY(
      Use.LOAD,
      In.ALL,
      Kind.WORD,
      "name; text, csv: position",
      "columns of file and table belong together by `name` or `position`; in text and csv names need `header`"),
  EXTRA_COLUMNS(
      Use.LOAD,
      In.COLUMNAR,
      Kind.WORD,
      "ignore",
      "columns that the table does not have: `ignore` or `error`"),
  TRUNCATE(
      Use.LOAD,
      In.COLUMNAR,
      Kind.BOOLEAN,
      "false",
      "nanoseconds are cut to microseconds, and times of day for a column of dates; otherwise an error (22008; of an interval 22015)"),
  NUMERIC_AS(
      Use.DUMP,
      In.PARQUET,
      Kind.NAMES,
      "text",
      "`(precision, scale)` of numeric without any; other values are an error (22003)"),
  TEXT_COLUMNS(Use.DUMP, In.COLUMNAR, Kind.NAMES, "none", "columns that become text"),
  INFINITY(
      Use.DUMP,
      In.COLUMNAR,
      Kind.WORD,
      "error",
      "values that the format does not have: `error`, `text`, `null`"),
  BATCH_ROWS(
      Use.LOAD, In.ALL, Kind.COUNT, "0", "commit after so many rows; 0: all in one transaction"),
  LOAD_ID(
      Use.LOAD,
      In.ALL,
      Kind.TEXT,
      "none",
      "name of a load that goes on after it broke off; needs `batch_rows`"),
  WRITE_PRESERVE(
      Use.LOAD,
      In.ALL,
      Kind.BOOLEAN,
      "true; with `batch_rows`: false",
      "a load that is its own transaction is a long one: others that write the table give way (40001)"),
  WORKERS(Use.BOTH, In.ALL, Kind.COUNT, "0", "most tasks at a time; 0: as many as there are");

  /// Directions.
  enum Use {
    LOAD,
    DUMP,
    BOTH
  }

  /// Formats.
  enum In {
    ALL,
    TEXT,
    CSV,
    JSON,
    /// Texts in lines.
    LINES,
    PARQUET,
    COLUMNAR;

    private boolean has(BulkFormat format) {
      return switch (this) {
        case ALL -> true;
        case TEXT -> format.isText();
        case CSV -> format == BulkFormat.CSV;
        case JSON -> format == BulkFormat.JSON;
        case LINES -> !format.isColumnar();
        case PARQUET -> format == BulkFormat.PARQUET;
        case COLUMNAR -> format.isColumnar();
      };
    }
  }

  /// How a value is written.
  enum Kind {
    /// A word of a few.
    WORD,
    /// Any text, not empty in parentheses.
    TEXT,
    /// A Boolean, true if nothing is said.
    BOOLEAN,
    /// A whole number.
    COUNT,
    /// From 0 to 1.
    RATIO,
    /// A number of bytes, or one with kB, MB, GB, TB.
    BYTES,
    /// One or several, in parentheses.
    NAMES
  }

  private final Use use;
  private final In in;
  private final Kind kind;
  private final String defaultText;
  private final String meaning;

  CopyOption(Use use, In in, Kind kind, String defaultText, String meaning) {
    this.use = use;
    this.in = in;
    this.kind = kind;
    this.defaultText = defaultText;
    this.meaning = meaning;
  }

  /// Name in a statement.
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  Kind kind() {
    return kind;
  }

  boolean isFor(BulkFormat format) {
    return in.has(format);
  }

  /// Whether a load may have it, or a dump.
  public boolean isFor(boolean isLoad) {
    return use == Use.BOTH || (use == Use.LOAD) == isLoad;
  }

  /// Whether text and CSV have it.
  boolean isOfText() {
    return in == In.TEXT;
  }

  /// Whether CSV alone has it.
  boolean isOfCsv() {
    return in == In.CSV;
  }

  /// Its line of the table in README.md.
  String tableLine() {
    String direction =
        switch (use) {
          case LOAD -> "load";
          case DUMP -> "dump";
          case BOTH -> "both";
        };
    String formats =
        switch (in) {
          case ALL -> "all";
          case TEXT -> "text, csv";
          case CSV -> "csv";
          case JSON -> "json";
          case LINES -> "text, csv, json";
          case PARQUET -> "parquet";
          case COLUMNAR -> "parquet, arrow, arrow_stream";
        };
    return "| `%s` | %s | %s | %s | %s | %s |"
        .formatted(
            key(), direction, formats, kind.name().toLowerCase(Locale.ROOT), defaultText, meaning);
  }
}
