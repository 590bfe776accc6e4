package dev.kakehashi.bulk.option;

import java.util.Locale;

/// Formats of files.
public enum BulkFormat {
  TEXT("txt"),
  CSV("csv"),
  /// Dumps alone have it.
  JSON("json"),
  PARQUET("parquet"),
  ARROW("arrow"),
  ARROW_STREAM("arrows");

  private final String ending;

  BulkFormat(String ending) {
    this.ending = ending;
  }

  /// As the option `format` has it.
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Ending of names of files, without a dot.
  public String ending() {
    return ending;
  }

  /// Whether it is one of PostgreSQL's that can be loaded.
  public boolean isText() {
    return this == TEXT || this == CSV;
  }

  /// Whether its files have the values of a column together.
  public boolean isColumnar() {
    return this == PARQUET || this == ARROW || this == ARROW_STREAM;
  }

  /// If nothing is said: what can be nothing else by its name, otherwise PostgreSQL's text format.
  static BulkFormat ofName(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    for (BulkFormat format : values()) {
      if (format.isColumnar() && lower.endsWith("." + format.ending)) {
        return format;
      }
    }
    return TEXT;
  }
}
