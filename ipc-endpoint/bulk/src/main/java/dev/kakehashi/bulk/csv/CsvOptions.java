package dev.kakehashi.bulk.csv;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// How a file of CSV, or of PostgreSQL's text format, is written. Immutable; made by [Builder#build], which checks what belongs together as
/// PostgreSQL's `COPY` does.
///
/// @param isCsv otherwise text format
/// @param delimiter one ASCII byte
/// @param nullText what stands for null, where it is not in quotes
/// @param quote CSV's; one ASCII byte
/// @param escape CSV's, before a quote in quotes; one ASCII byte
/// @param forceQuote columns that are written in quotes unless null
/// @param forceNotNull columns whose values are never compared to the null text
/// @param forceNull columns that are null also when the null text is in quotes
/// @param defaultText what stands for the column's default; null: nothing does
/// @param setsNull whether a value that cannot be converted is null, and its row goes on; otherwise the row is rejected
public record CsvOptions(
    boolean isCsv,
    byte delimiter,
    String nullText,
    Header header,
    byte quote,
    byte escape,
    Columns forceQuote,
    Columns forceNotNull,
    Columns forceNull,
    @Nullable String defaultText,
    boolean setsNull,
    Compression compression) {

  /// Meaning of the first lines.
  ///
  /// @param lines how many they are: rows as the format has them, so that a line end in quotes ends none
  public record Header(Kind kind, int lines) {
    /// Meaning of the lines that there are.
    private enum Kind {
      SKIP,
      MATCH,
      NAMES
    }

    /// The first line is a row.
    public static final Header NONE = skip(0);

    /// The first line is skipped, or written.
    public static final Header SKIP = skip(1);

    /// It has the names of the columns, in their order: otherwise the file is refused.
    public static final Header MATCH = new Header(Kind.MATCH, 1);

    /// It has names of columns in any order, and says which columns the file has.
    public static final Header NAMES = new Header(Kind.NAMES, 1);

    /// So many lines are skipped.
    ///
    /// @param lines 0 or more
    public static Header skip(int lines) {
      return new Header(Kind.SKIP, lines);
    }

    boolean hasNames() {
      return kind != Kind.SKIP;
    }

    boolean hasAllNames() {
      return kind == Kind.MATCH;
    }
  }

  /// How a file is compressed.
  public enum Compression {
    NONE,
    GZIP,
    ZSTD,
    /// As the ending of the file's name says. A file that is written is not compressed, unless [#ofName] was asked.
    AUTO;

    /// As the ending of a name says: `.gz`, `.zst`.
    public static Compression ofName(String name) {
      String lower = name.toLowerCase(Locale.ROOT);
      if (lower.endsWith(".gz") || lower.endsWith(".gzip")) {
        return GZIP;
      }
      return lower.endsWith(".zst") || lower.endsWith(".zstd") ? ZSTD : NONE;
    }

    /// The coding of a file that is written.
    public Coding coding() {
      return switch (this) {
        case GZIP -> Coding.GZIP;
        case ZSTD -> Coding.ZSTD;
        case NONE, AUTO -> Coding.IDENTITY;
      };
    }
  }

  /// A choice of columns.
  ///
  /// @param all whether it is every one (`*`)
  public record Columns(boolean all, List<String> names) {
    public static final Columns NONE = new Columns(false, List.of());
    public static final Columns ALL = new Columns(true, List.of());

    public Columns {
      names = List.copyOf(names);
    }

    public static Columns of(List<String> names) {
      return names.equals(List.of("*")) ? ALL : new Columns(false, names);
    }

    boolean isEmpty() {
      return !all && names.isEmpty();
    }

    boolean has(String name) {
      return all || names.contains(name);
    }
  }

  /// A builder with the defaults of CSV or of text format.
  public static Builder builder(boolean isCsv) {
    return new Builder(isCsv);
  }

  CsvOptions withDelimiter(byte chosen) {
    return new CsvOptions(
        isCsv,
        chosen,
        nullText,
        header,
        quote,
        escape,
        forceQuote,
        forceNotNull,
        forceNull,
        defaultText,
        setsNull,
        compression);
  }

  /// Collects options as their text has them. Not thread-safe.
  public static final class Builder {
    private static final String NOT_DELIMITERS = "\\.abcdefghijklmnopqrstuvwxyz0123456789";

    private final boolean isCsv;
    private @Nullable String delimiter;
    private @Nullable String nullText;
    private Header header = Header.NONE;
    private @Nullable String quote;
    private @Nullable String escape;
    private Columns forceQuote = Columns.NONE;
    private Columns forceNotNull = Columns.NONE;
    private Columns forceNull = Columns.NONE;
    private @Nullable String defaultText;
    private boolean setsNull;
    private Compression compression = Compression.AUTO;

    private Builder(boolean isCsv) {
      this.isCsv = isCsv;
    }

    public Builder delimiter(String value) {
      delimiter = value;
      return this;
    }

    public Builder nullText(String value) {
      nullText = value;
      return this;
    }

    public Builder header(Header value) {
      header = value;
      return this;
    }

    public Builder quote(String value) {
      quote = value;
      return this;
    }

    public Builder escape(String value) {
      escape = value;
      return this;
    }

    public Builder forceQuote(Columns value) {
      forceQuote = value;
      return this;
    }

    public Builder forceNotNull(Columns value) {
      forceNotNull = value;
      return this;
    }

    public Builder forceNull(Columns value) {
      forceNull = value;
      return this;
    }

    public Builder defaultText(String value) {
      defaultText = value;
      return this;
    }

    public Builder setsNull(boolean value) {
      setsNull = value;
      return this;
    }

    /// @throws EngineException FEATURE_NOT_SUPPORTED for anything but UTF-8
    public Builder encoding(String name) {
      String plain = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
      if (!plain.equals("utf8") && !plain.equals("unicode")) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED, "COPY ENCODING must be UTF8, not \"" + name + "\"");
      }
      return this;
    }

    public Builder compression(Compression value) {
      compression = value;
      return this;
    }

    /// @param isLoad whether files are read; otherwise they are written
    /// @throws EngineException as PostgreSQL: FEATURE_NOT_SUPPORTED, INVALID_PARAMETER_VALUE
    public CsvOptions build(boolean isLoad) {
      String delimiterText = delimiter == null ? (isCsv ? "," : "\t") : delimiter;
      String nulls = nullText == null ? (isCsv ? "" : "\\N") : nullText;
      String quoteText = quote == null ? "\"" : quote;
      String escapeText = escape == null ? quoteText : escape;
      checkBytes(delimiterText, quoteText, escapeText);
      checkText("null representation", nulls);
      checkColumns(isLoad);
      if (!isCsv && NOT_DELIMITERS.contains(delimiterText)) {
        throw invalid("COPY delimiter cannot be \"" + delimiterText + "\"");
      }
      if (isCsv && delimiterText.equals(quoteText)) {
        throw invalid("COPY delimiter and quote must be different");
      }
      if (nulls.contains(delimiterText)) {
        throw invalid("COPY delimiter character must not appear in the NULL specification");
      }
      if (isCsv && nulls.contains(quoteText)) {
        throw invalid("CSV quote character must not appear in the NULL specification");
      }
      checkHeader(isLoad);
      checkDefault(isLoad, delimiterText, quoteText, nulls);
      return new CsvOptions(
          isCsv,
          (byte) delimiterText.charAt(0),
          nulls,
          header,
          (byte) quoteText.charAt(0),
          (byte) escapeText.charAt(0),
          forceQuote,
          forceNotNull,
          forceNull,
          defaultText,
          setsNull,
          compression);
    }

    private void checkHeader(boolean isLoad) {
      if (!isLoad && header.hasNames()) {
        throw invalid(
            "cannot use \"%s\" with HEADER in COPY TO"
                .formatted(header.hasAllNames() ? "match" : "names"));
      }
      if (!isLoad && header.lines() > 1) {
        throw notSupported("cannot use multi-line header in COPY TO");
      }
    }

    private void checkBytes(String delimiterText, String quoteText, String escapeText) {
      if (!isByte(delimiterText)) {
        throw notSupported("COPY delimiter must be a single one-byte character");
      }
      if (isLineEnd(delimiterText.charAt(0))) {
        throw invalid("COPY delimiter cannot be newline or carriage return");
      }
      csvOnly("QUOTE", quote != null);
      csvOnly("ESCAPE", escape != null);
      if (!isByte(quoteText)) {
        throw notSupported("COPY quote must be a single one-byte character");
      }
      if (!isByte(escapeText)) {
        throw notSupported("COPY escape must be a single one-byte character");
      }
      // PostgreSQL takes them, and cannot read what it has written with them.
      if (isLineEnd(quoteText.charAt(0)) || isLineEnd(escapeText.charAt(0))) {
        throw invalid("COPY quote and escape cannot be newline or carriage return");
      }
    }

    private static boolean isByte(String text) {
      return text.length() == 1 && text.charAt(0) > 0 && text.charAt(0) < 0x80;
    }

    private static boolean isLineEnd(char c) {
      return c == '\n' || c == '\r';
    }

    private static void checkText(String what, String text) {
      if (text.indexOf('\n') >= 0 || text.indexOf('\r') >= 0) {
        throw invalid("COPY " + what + " cannot use newline or carriage return");
      }
      if (!StandardCharsets.UTF_8.newEncoder().canEncode(text) || text.indexOf('\0') >= 0) {
        throw invalid("COPY " + what + " has a character that UTF-8 or PostgreSQL does not have");
      }
    }

    private void checkColumns(boolean isLoad) {
      csvOnly("FORCE_QUOTE", !forceQuote.isEmpty());
      csvOnly("FORCE_NOT_NULL", !forceNotNull.isEmpty());
      csvOnly("FORCE_NULL", !forceNull.isEmpty());
      if (!forceQuote.isEmpty() && isLoad) {
        throw notSupported("COPY FORCE_QUOTE cannot be used with COPY FROM");
      }
      if (!forceNotNull.isEmpty() && !isLoad) {
        throw notSupported("COPY FORCE_NOT_NULL cannot be used with COPY TO");
      }
      if (!forceNull.isEmpty() && !isLoad) {
        throw notSupported("COPY FORCE_NULL cannot be used with COPY TO");
      }
    }

    private void checkDefault(
        boolean isLoad, String delimiterText, String quoteText, String nulls) {
      if (defaultText == null) {
        return;
      }
      if (!isLoad) {
        throw notSupported("COPY DEFAULT cannot be used with COPY TO");
      }
      checkText("default representation", defaultText);
      if (defaultText.contains(delimiterText)) {
        throw invalid("COPY delimiter character must not appear in the DEFAULT specification");
      }
      if (isCsv && defaultText.contains(quoteText)) {
        throw invalid("CSV quote character must not appear in the DEFAULT specification");
      }
      if (defaultText.equals(nulls)) {
        throw invalid("NULL specification and DEFAULT specification cannot be the same");
      }
    }

    private void csvOnly(String option, boolean isUsed) {
      if (isUsed && !isCsv) {
        throw notSupported("COPY " + option + " requires CSV mode");
      }
    }

    private static EngineException invalid(String message) {
      return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
    }

    private static EngineException notSupported(String message) {
      return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, message);
    }
  }
}
