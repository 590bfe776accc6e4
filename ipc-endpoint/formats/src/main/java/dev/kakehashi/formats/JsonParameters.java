package dev.kakehashi.formats;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.number.DecimalText;
import java.io.IOException;

/// Parameters of a statement from JSON.
///
/// | type | JSON |
/// |---|---|
/// | bool | `true`, `false`, or a string as PostgreSQL takes it |
/// | integers | number without fraction, or string; 22003 out of range |
/// | float4, float8, numeric | number or string, exact for numeric; `"NaN"`, `"Infinity"`, `"-Infinity"` |
/// | text types, uuid | string |
/// | bytea | string: `\x` and hexadecimal digits, or PostgreSQL's escape form |
/// | dates, times, interval | string, in PostgreSQL's forms; without a zone in UTC |
/// | json, jsonb | any value, as it is: a string is a JSON string |
/// | arrays | array, nested by dimensions |
///
/// `null` is SQL's null for every type, also json.
///
/// An error names the parameter, from 1, and its JSON pointer in the detail.
public final class JsonParameters {
  /// Limits of a request.
  ///
  /// @param maxRows of parameters
  /// @param maxBytes of the row batch
  public record Limits(int maxRows, int maxBytes) {}

  private final int[] typeOids;
  private final Limits limits;
  private final RowBatchWriter writer;

  private JsonParameters(int[] typeOids, Limits limits) {
    this.typeOids = typeOids;
    this.limits = limits;
    int fit = RowBatchWriter.rowsThatFit(typeOids.length, limits.maxBytes());
    if (fit < 1) {
      throw tooMuch();
    }
    this.writer =
        RowBatchWriter.growable(
            typeOids.length, Math.min(limits.maxRows(), fit), limits.maxBytes());
  }

  /// Reads one row: an array of values.
  ///
  /// @param parser at the array's beginning; at its end afterwards
  /// @param typeOids of the statement's parameters
  /// @throws EngineException UNDEFINED_PARAMETER for another number of values, DATATYPE_MISMATCH for a JSON type that the parameter does
  ///     not take, LIMIT_EXCEEDED, and PostgreSQL's for values that are not of the type
  /// @throws IOException for broken JSON, and what the parser's source throws
  public static ParameterBatch row(JsonParser parser, int[] typeOids, Limits limits)
      throws IOException {
    expectArray(parser);
    JsonParameters parameters = new JsonParameters(typeOids, limits);
    parameters.readRow(parser);
    return typeOids.length == 0 ? ParameterBatch.NONE : parameters.batch();
  }

  /// Reads any number of rows: an array of arrays of values. The statement runs once for each.
  ///
  /// @param parser at the outer array's beginning; at its end afterwards
  /// @throws EngineException as [#row]
  public static ParameterBatch rows(JsonParser parser, int[] typeOids, Limits limits)
      throws IOException {
    expectArray(parser);
    JsonParameters parameters = new JsonParameters(typeOids, limits);
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      expectArray(parser);
      parameters.readRow(parser);
    }
    return parameters.batch();
  }

  private static void expectArray(JsonParser parser) {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw new EngineException(ErrorCode.DATATYPE_MISMATCH, "parameters must be a JSON array")
          .withDetail("At " + pointer(parser) + ".");
    }
  }

  private static String pointer(JsonParser parser) {
    String pointer = parser.getParsingContext().pathAsPointer().toString();
    return pointer.isEmpty() ? "the root" : pointer;
  }

  private ParameterBatch batch() {
    writer.finish();
    return new ParameterBatch(writer.batch(), writer.rowCount());
  }

  private void readRow(JsonParser parser) throws IOException {
    if (writer.rowCount() == limits.maxRows() || !writer.addRow()) {
      throw tooMuch();
    }
    int column = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (column == typeOids.length) {
        throw wrongCount("more").withDetail("At " + pointer(parser) + ".");
      }
      value(parser, column);
      column++;
    }
    if (column < typeOids.length) {
      throw wrongCount(Integer.toString(column)).withDetail("At " + pointer(parser) + ".");
    }
  }

  private void value(JsonParser parser, int column) throws IOException {
    if (parser.currentToken() == JsonToken.VALUE_NULL) {
      writer.setNull(column);
      return;
    }
    // An array's or object's pointer is that of its beginning.
    String pointer = null;
    if (parser.currentToken().isStructStart()) {
      pointer = pointer(parser);
    }
    try {
      if (!set(writer, column, typeOids[column], parser, limits.maxBytes())) {
        throw tooMuch();
      }
    } catch (EngineException e) {
      String where = pointer == null ? pointer(parser) : pointer;
      String detail = "Parameter $" + (column + 1) + " at " + where + ".";
      throw e.withDetail(e.detail().isEmpty() ? detail : e.detail() + " " + detail);
    }
  }

  private EngineException wrongCount(String given) {
    return new EngineException(
        ErrorCode.UNDEFINED_PARAMETER,
        "the statement has " + typeOids.length + " parameters, " + given + " were given");
  }

  private EngineException tooMuch() {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED,
        "parameters are more than %d rows or %d bytes"
            .formatted(limits.maxRows(), limits.maxBytes()));
  }

  /// Sets a value that is not null from the value that the parser is at, to its end.
  ///
  /// @return whether there was room
  static boolean set(
      RowBatchWriter writer, int column, int typeOid, JsonParser parser, int maxBytes)
      throws IOException {
    if (typeOid == TypeOid.JSON || typeOid == TypeOid.JSONB) {
      return writer.setBytes(column, JsonValues.read(parser, typeOid, maxBytes));
    }
    int element = TypeOid.element(typeOid);
    JsonToken token = parser.currentToken();
    if (element != TypeOid.UNSPECIFIED) {
      if (token != JsonToken.START_ARRAY) {
        throw mismatch(typeOid, "an array");
      }
      return writer.setBytes(column, ArrayInput.read(parser, element, maxBytes));
    }
    return switch (token) {
      case VALUE_STRING -> TextInput.set(writer, column, typeOid, parser.getText());
      case VALUE_TRUE, VALUE_FALSE -> {
        if (typeOid != TypeOid.BOOL) {
          throw mismatch(typeOid, "a string or number");
        }
        writer.setBoolean(column, token == JsonToken.VALUE_TRUE);
        yield true;
      }
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          number(writer, column, typeOid, parser.getText());
      default -> throw mismatch(typeOid, "a scalar");
    };
  }

  private static boolean number(RowBatchWriter writer, int column, int typeOid, String text) {
    return switch (typeOid) {
      case TypeOid.INT2, TypeOid.INT4, TypeOid.INT8 ->
          TextInput.set(writer, column, typeOid, withoutFraction(text));
      case TypeOid.FLOAT4, TypeOid.FLOAT8, TypeOid.NUMERIC ->
          TextInput.set(writer, column, typeOid, text);
      default -> throw mismatch(typeOid, "a string");
    };
  }

  /// `1e3` and `7.0` are integers, too.
  private static String withoutFraction(String number) {
    if (number.indexOf('.') < 0 && number.indexOf('e') < 0 && number.indexOf('E') < 0) {
      return number;
    }
    String plain = DecimalText.finite(number).toPlainString();
    int point = plain.indexOf('.');
    if (point < 0) {
      return plain;
    }
    for (int i = point + 1; i < plain.length(); i++) {
      if (plain.charAt(i) != '0') {
        throw ValueErrors.invalidSyntax("integer", number);
      }
    }
    return plain.substring(0, point);
  }

  private static EngineException mismatch(int typeOid, String expected) {
    return new EngineException(
        ErrorCode.DATATYPE_MISMATCH,
        "a parameter of type " + TypeName.of(typeOid, -1) + " must be " + expected + " or null");
  }
}
