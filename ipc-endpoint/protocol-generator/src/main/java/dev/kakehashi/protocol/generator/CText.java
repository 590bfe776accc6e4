package dev.kakehashi.protocol.generator;

import java.util.Locale;

/// C source under construction: lines, indentation, names.
final class CText {
  private final StringBuilder text = new StringBuilder();
  private int depth;

  /// @param source schema file, named so that the reader of the C knows what to edit
  static CText file(String source, String purpose) {
    return new CText()
        .line("/* Generated from %s by \"make generate\". Do not edit. */", source)
        .line("/* clang-format off */")
        .line("")
        .line("/* %s */", purpose);
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency for this alone
  CText line(String format, Object... arguments) {
    String line = arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments);
    text.append(line.isEmpty() ? "" : "\t".repeat(depth)).append(line).append('\n');
    return this;
  }

  /// Lines as they are, from a text block.
  CText block(String lines) {
    text.append(lines);
    return this;
  }

  CText open() {
    line("{");
    depth++;
    return this;
  }

  CText close(String after) {
    depth--;
    return line("}" + after);
  }

  CText close() {
    return close("");
  }

  /// `transactionHandle` to `transaction_handle`, `RowBatchHeader` to `row_batch_header`.
  static String lower(String camelCase) {
    StringBuilder name = new StringBuilder();
    for (int i = 0; i < camelCase.length(); i++) {
      char c = camelCase.charAt(i);
      if (Character.isUpperCase(c) && i > 0 && Character.isLowerCase(camelCase.charAt(i - 1))) {
        name.append('_');
      }
      name.append(Character.toLowerCase(c));
    }
    return name.toString();
  }

  static String upper(String camelCase) {
    return lower(camelCase).toUpperCase(Locale.ROOT);
  }

  static String comment(String description) {
    return description.isEmpty() ? "" : "\t/* " + description.replace("*/", "* /") + " */";
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
