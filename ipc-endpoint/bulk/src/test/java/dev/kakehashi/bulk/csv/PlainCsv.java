package dev.kakehashi.bulk.csv;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Reads CSV and text format byte by byte in PostgreSQL's two steps, lines and then fields: slow, and simple enough to be believed. Rows of
/// text columns alone.
final class PlainCsv {
  private final CsvOptions options;
  private final byte[] content;
  private final int columns;
  private int at;
  private String lineEnd = "";
  private String error = "";
  private boolean isDone;

  /// Rows as [CsvFiles#read] shows them; a bad row is `!` and its message.
  final List<String> rows = new ArrayList<>();

  PlainCsv(CsvOptions options, int columns, byte[] content) {
    this.options = options;
    this.columns = columns;
    this.content = content;
    while (at < content.length && !isDone) {
      error = "";
      int begin = at;
      int end = options.isCsv() ? csvLine() : textLine();
      if (!isDone) {
        row(begin, end);
      }
    }
  }

  /// Whether a line ends here, outside of quotes; otherwise it may be an error.
  private boolean ends(String what) {
    byte c = content[at];
    if (c != '\n' && c != '\r') {
      return false;
    }
    if (lineEnd.isEmpty()) {
      boolean pair = c == '\r' && at + 1 < content.length && content[at + 1] == '\n';
      lineEnd = pair ? "\r\n" : c == '\r' ? "\r" : "\n";
    }
    String here =
        new String(
            content,
            at,
            Math.min(lineEnd.length(), content.length - at),
            StandardCharsets.ISO_8859_1);
    if (here.equals(lineEnd)) {
      return true;
    }
    if (error.isEmpty()) {
      error = what + (c == '\n' ? " newline" : " carriage return") + " found in data";
    }
    return false;
  }

  private int csvLine() {
    boolean inQuotes = false;
    boolean escaped = false;
    for (; at < content.length; at++) {
      byte c = content[at];
      boolean special = options.escape() != options.quote();
      boolean wasEscaped = escaped;
      escaped = special && inQuotes && c == options.escape() && !wasEscaped;
      if (c == options.quote() && !wasEscaped) {
        inQuotes = !inQuotes;
      } else if (!inQuotes && ends("unquoted")) {
        int end = at;
        at += lineEnd.length();
        return end;
      }
    }
    return at;
  }

  private int textLine() {
    int begin = at;
    for (; at < content.length; at++) {
      if (content[at] == '\\' && at + 1 < content.length) {
        if (content[at + 1] == '.') {
          int behind = at + 2;
          boolean alone =
              at == begin
                  && (behind == content.length
                      || (!lineEnd.isEmpty() && startsWith(behind, lineEnd))
                      || (lineEnd.isEmpty() && isLineEnd(content[behind])));
          if (alone) {
            isDone = true;
            return at;
          }
          if (error.isEmpty()) {
            error = "end-of-copy marker is not alone on its line";
          }
        }
        at++;
      } else if (ends("literal")) {
        int end = at;
        at += lineEnd.length();
        return end;
      }
    }
    at = content.length;
    return at;
  }

  private static boolean isLineEnd(byte c) {
    return c == '\n' || c == '\r';
  }

  private boolean startsWith(int from, String text) {
    return from + text.length() <= content.length
        && new String(content, from, text.length(), StandardCharsets.ISO_8859_1).equals(text);
  }

  private void row(int begin, int end) {
    List<String> fields = new ArrayList<>();
    int place = begin;
    while (place <= end) {
      StringBuilder field = new StringBuilder();
      int next = options.isCsv() ? csvField(place, end, field) : textField(place, end, field);
      fields.add(field.toString());
      place = next + 1;
    }
    if (error.isEmpty() && fields.size() != columns) {
      error =
          fields.size() > columns
              ? "extra data after last expected column"
              : "missing data for column \"" + (char) ('a' + fields.size()) + "\"";
    }
    rows.add(error.isEmpty() ? String.join("|", fields) : "!" + error);
  }

  private int csvField(int begin, int end, StringBuilder out) {
    boolean inQuotes = false;
    boolean quoted = false;
    int place = begin;
    for (; place < end; place++) {
      byte c = content[place];
      if (inQuotes) {
        boolean escape =
            c == options.escape()
                && place + 1 < end
                && (content[place + 1] == options.escape()
                    || content[place + 1] == options.quote());
        if (escape) {
          place++;
          out.append((char) content[place]);
        } else if (c == options.quote()) {
          inQuotes = false;
        } else {
          out.append((char) c);
        }
      } else if (c == options.delimiter()) {
        break;
      } else if (c == options.quote()) {
        inQuotes = true;
        quoted = true;
      } else {
        out.append((char) c);
      }
    }
    if (inQuotes && error.isEmpty()) {
      error = "unterminated CSV quoted field";
    }
    if (!quoted && out.toString().equals(options.nullText())) {
      out.replace(0, out.length(), "<null>");
    }
    return place;
  }

  private int textField(int begin, int end, StringBuilder out) {
    int place = begin;
    for (; place < end && content[place] != options.delimiter(); place++) {
      if (content[place] == '\\' && place + 1 < end) {
        place++;
        int index = "bfnrtv".indexOf((char) content[place]);
        out.append(index >= 0 ? "\b\f\n\r\t\u000B".charAt(index) : (char) content[place]);
      } else if (content[place] != '\\') {
        out.append((char) content[place]);
      }
    }
    String raw = new String(content, begin, place - begin, StandardCharsets.ISO_8859_1);
    if (raw.equals(options.nullText())) {
      out.replace(0, out.length(), "<null>");
    }
    return place;
  }
}
