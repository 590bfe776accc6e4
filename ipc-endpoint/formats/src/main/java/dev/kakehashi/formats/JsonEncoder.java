package dev.kakehashi.formats;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.array.ArrayReader.Token;
import dev.kakehashi.valuetext.number.Digits;
import dev.kakehashi.valuetext.number.FloatDigits;
import dev.kakehashi.valuetext.time.TimeText;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// JSON and NDJSON.
///
/// | type | JSON |
/// |---|---|
/// | bool | `true`, `false` |
/// | int2, int4, float4, float8 | number; NaN and the infinities are strings |
/// | int8, numeric | string, or by option a number; NaN and the infinities are strings |
/// | json, jsonb | as it is |
/// | arrays | array of the elements' forms, nested by dimensions; where subscripts begin is lost |
/// | timestamp, timestamptz | string as `to_json()` writes it: `2026-11-25T22:30:00.5`, `2026-11-25T22:30:00.5+00:00` |
/// | others | string as PostgreSQL writes it |
///
/// COPY's forms have objects and numbers, as PostgreSQL's `COPY … (FORMAT json)`; names may come twice there.
///
/// A document is `{"columns":[{"name":…,"type":…}],"rows":[…],"rowCount":n}`. NDJSON with rows as arrays begins with a line
/// `{"columns":[…]}`.
final class JsonEncoder implements RowEncoder {
  private static final byte[] NULL = ascii("null");
  private static final byte[] TRUE = ascii("true");
  private static final byte[] FALSE = ascii("false");
  private static final byte[] BYTEA_PREFIX = ascii("\"\\\\x");
  private static final byte[] SEPARATOR = ascii(",\n");
  private static final byte[] NONE = {};

  /// Text around the rows.
  enum Layout {
    DOCUMENT,
    LINES,
    /// A row a line, and nothing else.
    COPY_LINES,
    /// The same with brackets around, and commas before.
    COPY_ARRAY;

    boolean isCopy() {
      return this == COPY_LINES || this == COPY_ARRAY;
    }
  }

  private final FormatOptions options;
  private final Layout layout;
  private final BatchView view = new BatchView();
  private final ArrayCursor array = new ArrayCursor();
  private Output out = new Output(OutputStream.nullOutputStream());
  private ValueForm[] forms = {};
  private ValueForm[] elements = {};

  /// Bytes before each value: separator and, in objects, name.
  private byte[][] before = {};

  private boolean first = true;

  JsonEncoder(FormatOptions options, Layout layout) {
    this.options = options;
    this.layout = layout;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void begin(List<Statement.Column> columns, OutputStream stream) throws IOException {
    int count = columns.size();
    forms = new ValueForm[count];
    elements = new ValueForm[count];
    before = new byte[count][];
    Set<String> names = new HashSet<>();
    for (int i = 0; i < count; i++) {
      Statement.Column column = columns.get(i);
      forms[i] = ValueForm.of(column.typeOid());
      elements[i] =
          forms[i] == ValueForm.ARRAY
              ? ValueForm.of(TypeOid.element(column.typeOid()))
              : ValueForm.TEXT;
      String separator = i == 0 ? "" : ",";
      before[i] = ascii(separator);
      if (options.objects()) {
        if (!names.add(column.name()) && !layout.isCopy()) {
          throw new EngineException(
                  ErrorCode.DUPLICATE_COLUMN,
                  "two columns of the result have the name \"" + column.name() + "\"")
              .withHint("Give them different names, or ask for rows as arrays.");
        }
        before[i] = concat(ascii(separator), JsonText.quoted(column.name()), ascii(":"));
      }
    }
    out = new Output(stream);
    if (layout == Layout.COPY_ARRAY) {
      out.ascii("[\n");
    } else if (layout == Layout.DOCUMENT || !options.objects()) {
      describe(columns);
    }
  }

  private static byte[] concat(byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    byte[] all = new byte[length];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }

  private void describe(List<Statement.Column> columns) throws IOException {
    out.ascii("{\"columns\":[");
    for (int i = 0; i < columns.size(); i++) {
      Statement.Column column = columns.get(i);
      out.ascii(i == 0 ? "{\"name\":" : ",{\"name\":");
      out.put(JsonText.quoted(column.name()));
      out.ascii(",\"type\":");
      out.put(JsonText.quoted(TypeName.of(column.typeOid(), column.typeModifier())));
      out.put('}');
    }
    out.ascii(layout == Layout.LINES ? "]}\n" : "],\"rows\":[");
  }

  @Override
  public void rows(MemorySegment batch) throws IOException {
    view.wrap(batch, forms.length);
    int open = options.objects() ? '{' : '[';
    int close = options.objects() ? '}' : ']';
    for (int row = 0; row < view.rowCount(); row++) {
      if (layout == Layout.DOCUMENT) {
        out.put(first ? NONE : SEPARATOR);
      } else if (layout == Layout.COPY_ARRAY) {
        out.put(first ? ' ' : ',');
      }
      first = false;
      out.put(open);
      row(view.rowAt(row));
      out.put(close);
      if (layout != Layout.DOCUMENT) {
        out.put('\n');
      }
    }
  }

  private void row(long rowAt) throws IOException {
    for (int column = 0; column < forms.length; column++) {
      out.put(before[column]);
      if (view.isNull(rowAt, column)) {
        out.put(NULL);
      } else {
        value(column, view.word(rowAt, column));
      }
    }
  }

  private void value(int column, long word) throws IOException {
    MemorySegment memory = view.memory();
    switch (forms[column]) {
      case BOOL -> out.put(word != 0 ? TRUE : FALSE);
      case INT2, INT4 -> integer(word, false);
      case INT8 -> integer(word, !options.jsonNumbers());
      case FLOAT4 -> real(Float.intBitsToFloat((int) word));
      case FLOAT8 -> real(Double.longBitsToDouble(word));
      case DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> time(forms[column], word);
      case INTERVAL -> interval(view.fixedAt(word, 16));
      case UUID -> {
        long at = view.fixedAt(word, 16);
        out.need(ByteText.UUID_BYTES + 2);
        out.bytes[out.at++] = '"';
        out.at = ByteText.putUuid(out.bytes, out.at, memory, at);
        out.bytes[out.at++] = '"';
      }
      case NUMERIC -> {
        long at = view.payloadAt(word);
        int length = view.payloadBytes(word);
        boolean quoted = !options.jsonNumbers() || NumericText.isSpecial(memory, at, length);
        quote(quoted);
        NumericText.putNumeric(out, view, at, length);
        quote(quoted);
      }
      case BYTEA -> {
        long at = view.payloadAt(word);
        out.put(BYTEA_PREFIX);
        ByteText.putHex(out, memory, at, view.payloadBytes(word));
        out.put('"');
      }
      case TEXT -> {
        long at = view.payloadAt(word);
        JsonText.putString(out, memory, at, view.payloadBytes(word));
      }
      case JSON -> {
        long at = view.payloadAt(word);
        JsonText.putEmbedded(out, memory, at, view.payloadBytes(word));
      }
      case ARRAY -> array(elements[column], view.payloadAt(word), view.payloadBytes(word));
    }
  }

  private void quote(boolean quoted) throws IOException {
    if (quoted) {
      out.put('"');
    }
  }

  private void integer(long value, boolean quoted) throws IOException {
    out.need(Digits.MAX_INTEGER_BYTES + 2);
    byte[] bytes = out.bytes;
    int at = out.at;
    if (quoted) {
      bytes[at++] = '"';
    }
    at = Digits.putLong(bytes, at, value);
    if (quoted) {
      bytes[at++] = '"';
    }
    out.at = at;
  }

  private void real(double value) throws IOException {
    boolean quoted = !Double.isFinite(value);
    quote(quoted);
    out.need(FloatDigits.MAX_BYTES);
    out.at = FloatDigits.put(out.bytes, out.at, value);
    quote(quoted);
  }

  private void real(float value) throws IOException {
    boolean quoted = !Float.isFinite(value);
    quote(quoted);
    out.need(FloatDigits.MAX_BYTES);
    out.at = FloatDigits.put(out.bytes, out.at, value);
    quote(quoted);
  }

  private void time(ValueForm form, long word) throws IOException {
    out.need(TimeText.MAX_BYTES + 2);
    byte[] bytes = out.bytes;
    bytes[out.at] = '"';
    int at = out.at + 1;
    at =
        switch (form) {
          case DATE -> TimeText.putDate(bytes, at, (int) word);
          case TIME -> TimeText.putTime(bytes, at, word);
          case TIMESTAMP -> TimeText.putTimestamp(bytes, at, word, 'T');
          default -> TimeText.putTimestamptz(bytes, at, word, 'T');
        };
    bytes[at] = '"';
    out.at = at + 1;
  }

  private void interval(long at) throws IOException {
    MemorySegment memory = view.memory();
    out.put('"');
    out.need(TimeText.MAX_INTERVAL_BYTES);
    out.at =
        TimeText.putInterval(
            out.bytes,
            out.at,
            memory.get(BatchView.I32, at + 12),
            memory.get(BatchView.I32, at + 8),
            memory.get(BatchView.I64, at));
    out.put('"');
  }

  private void array(ValueForm element, long at, int length) throws IOException {
    array.open(view.memory(), at, length);
    boolean firstElement = true;
    for (Token token = array.next(); token != Token.END; token = array.next()) {
      if (token == Token.CLOSE) {
        out.put(']');
        firstElement = false;
        continue;
      }
      if (!firstElement) {
        out.put(',');
      }
      firstElement = token == Token.OPEN;
      switch (token) {
        case OPEN -> out.put('[');
        case NULL -> out.put(NULL);
        default -> element(element);
      }
    }
  }

  /// Writes the element that the cursor is at, from its text.
  private void element(ValueForm form) throws IOException {
    MemorySegment text = array.segment();
    int from = array.from();
    int length = array.length();
    switch (form) {
      case BOOL -> out.put(array.byteAt(0) == 't' ? TRUE : FALSE);
      case JSON -> JsonText.putEmbedded(out, text, from, length);
      case INT2, INT4, FLOAT4, FLOAT8 -> number(isSpecial());
      case INT8, NUMERIC -> number(!options.jsonNumbers() || isSpecial());
      case TIMESTAMP, TIMESTAMPTZ -> timestamp(form == ValueForm.TIMESTAMPTZ);
      default -> JsonText.putString(out, text, from, length);
    }
  }

  /// Whether the element is NaN or an infinity.
  private boolean isSpecial() {
    byte leading = array.byteAt(array.byteAt(0) == '-' ? 1 : 0);
    return leading == 'N' || leading == 'I';
  }

  private void number(boolean quoted) throws IOException {
    quote(quoted);
    out.put(array.bytes(), array.from(), array.length());
    quote(quoted);
  }

  /// A timestamp of an array: T in place of the blank, and an offset with minutes.
  private void timestamp(boolean withZone) throws IOException {
    int length = array.length();
    if (length > TimeText.MAX_BYTES) {
      throw new MalformedFrameException("element is no timestamp");
    }
    out.need(4 * TimeText.MAX_BYTES);
    out.bytes[out.at++] = '"';
    int sinceSign = -1;
    boolean inTime = false;
    for (int i = 0; i < length; i++) {
      byte each = array.byteAt(i);
      boolean endsOffset = withZone && sinceSign == 2 && each == ' ';
      if (endsOffset) {
        out.at = putMinutes(out.bytes, out.at);
        sinceSign = -1;
      }
      if (each == ' ' && !inTime) {
        inTime = true;
        out.bytes[out.at++] = 'T';
        continue;
      }
      if (inTime && (each == '+' || each == '-')) {
        sinceSign = 0;
      } else if (sinceSign >= 0) {
        sinceSign++;
      }
      out.bytes[out.at++] = each;
    }
    if (withZone && sinceSign == 2) {
      out.at = putMinutes(out.bytes, out.at);
    }
    out.bytes[out.at++] = '"';
  }

  private static int putMinutes(byte[] bytes, int at) {
    bytes[at] = ':';
    bytes[at + 1] = '0';
    bytes[at + 2] = '0';
    return at + 3;
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void end(long rowCount) throws IOException {
    out.ascii(
        switch (layout) {
          case DOCUMENT -> "],\"rowCount\":" + rowCount + "}\n";
          case LINES -> "{\"end\":{\"rowCount\":" + rowCount + "}}\n";
          case COPY_LINES -> "";
          case COPY_ARRAY -> "]\n";
        });
    out.flush();
  }

  @Override
  public void fail(byte[] problem) throws IOException {
    if (layout == Layout.LINES) {
      out.ascii("{\"error\":");
      out.put(problem);
      out.ascii("}\n");
    }
    out.flush();
  }

  @Override
  public long byteCount() {
    return out.drained();
  }
}
