package dev.kakehashi.rest.sql;

import dev.kakehashi.formats.Format;
import dev.kakehashi.formats.FormatOptions;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.formats.coding.Coding;
import dev.kakehashi.rest.header.Accept;
import dev.kakehashi.rest.header.AcceptEncoding;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.route.ExchangeRequest;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// How rows are answered: by `Accept` and its parameters, and `Accept-Encoding`. Immutable.
///
/// | parameter | of | values |
/// |---|---|---|
/// | `numbers` | JSON, NDJSON | `string` (default: int8 and numeric are strings), `json` |
/// | `rows` | JSON, NDJSON | `arrays` (default of JSON), `objects` (default of NDJSON) |
/// | `header` | CSV | `present` (default), `absent` |
///
/// @param contentType of the answer
/// @param suffix of a file's name, without the dot and the coding
/// @param encoders makes one for each answer, and for each file of an answer that is divided
/// @param isRows whether it has the rows of the result: they are counted then, and a long answer of a job may be several files, each whole
///     by itself
public record AnswerFormat(
    ContentType contentType,
    String suffix,
    Coding coding,
    Supplier<RowEncoder> encoders,
    boolean isRows) {
  private static final Map<Format, ContentType> TYPES =
      new EnumMap<>(
          Map.of(
              Format.JSON, ContentType.JSON,
              Format.NDJSON, ContentType.NDJSON,
              Format.CSV, ContentType.CSV,
              Format.ARROW, ContentType.ARROW_STREAM,
              Format.ROWS, ContentType.ROWS));

  /// Format for clients that ask for nothing.
  static final AnswerFormat JSON = of(Format.JSON, FormatOptions.of(Format.JSON), Coding.IDENTITY);

  private static final AnswerFormat JSON_OBJECTS =
      of(Format.JSON, FormatOptions.of(Format.JSON).withObjects(true), Coding.IDENTITY);

  private static final List<String> OFFERED =
      List.of(Format.values()).stream().map(Format::mediaType).toList();
  private static final List<String> CODINGS = List.of("zstd", "gzip");

  /// One that the request does not choose. It makes something else of the rows than rows, and one file.
  public static AnswerFormat of(
      ContentType contentType, String suffix, Supplier<RowEncoder> encoders) {
    return new AnswerFormat(contentType, suffix, Coding.IDENTITY, encoders, false);
  }

  private static AnswerFormat of(Format format, FormatOptions options, Coding coding) {
    return new AnswerFormat(
        Objects.requireNonNull(TYPES.get(format)),
        suffix(format),
        coding,
        () -> RowEncoder.of(format, options),
        true);
  }

  /// @throws Problem 400: a field is broken, or a parameter unknown; 406: there is no such format
  public static AnswerFormat of(ExchangeRequest request) {
    return of(request, false);
  }

  /// As [#of(ExchangeRequest)].
  ///
  /// @param objects whether rows of JSON are objects unless the client says something else
  static AnswerFormat of(ExchangeRequest request, boolean objects) {
    @Nullable String accept = request.header("Accept");
    @Nullable String encoding = request.header("Accept-Encoding");
    if ((accept == null || accept.equals("*/*") || accept.equals("application/json"))
        && encoding == null) {
      return objects ? JSON_OBJECTS : JSON;
    }
    Accept.Choice choice = Accept.parse(accept).choose(OFFERED);
    Format format = format(choice.mediaType());
    FormatOptions usual = FormatOptions.of(format);
    if (objects && format == Format.JSON) {
      usual = usual.withObjects(true);
    }
    return of(format, options(format, usual, choice.parameters()), coding(encoding));
  }

  private static Format format(String mediaType) {
    for (Format format : Format.values()) {
      if (format.mediaType().equals(mediaType)) {
        return format;
      }
    }
    throw new IllegalArgumentException(mediaType);
  }

  private static Coding coding(@Nullable String acceptEncoding) {
    Coding coding = Coding.find(AcceptEncoding.choose(acceptEncoding, CODINGS));
    return coding == null ? Coding.IDENTITY : coding;
  }

  private static FormatOptions options(
      Format format, FormatOptions usual, Map<String, String> parameters) {
    FormatOptions options = usual;
    boolean isJson = format == Format.JSON || format == Format.NDJSON;
    List<String> known =
        isJson
            ? List.of("numbers", "rows", "charset")
            : format == Format.CSV ? List.of("header", "charset") : List.of();
    for (Map.Entry<String, String> parameter : parameters.entrySet()) {
      String name = parameter.getKey();
      String value = parameter.getValue();
      if (!known.contains(name)) {
        throw Problem.unknownName("parameter of " + format.mediaType(), name, known);
      }
      options =
          switch (name) {
            case "numbers" -> options.withJsonNumbers(choose(name, value, "string", "json"));
            case "rows" -> options.withObjects(choose(name, value, "arrays", "objects"));
            case "header" -> options.withHeader(choose(name, value, "absent", "present"));
            default -> {
              if (!value.equalsIgnoreCase("utf-8")) {
                throw Problem.of(406, "not-acceptable", "Not acceptable", "answers are in UTF-8");
              }
              yield options;
            }
          };
    }
    return options;
  }

  /// Whether it is the second of two values.
  private static boolean choose(String name, String value, String first, String second) {
    if (!value.equals(first) && !value.equals(second)) {
      throw Problem.unknownName("value of " + name, value, List.of(first, second));
    }
    return value.equals(second);
  }

  RowEncoder encoder() {
    return encoders.get();
  }

  boolean isCoded() {
    return coding != Coding.IDENTITY;
  }

  private static String suffix(Format format) {
    return switch (format) {
      case JSON -> "json";
      case NDJSON -> "ndjson";
      case CSV -> "csv";
      case ARROW -> "arrows";
      case ROWS -> "rows";
    };
  }

  /// Extension of a file's name, without the dot.
  String extension() {
    return switch (coding) {
      case IDENTITY -> suffix;
      case GZIP -> suffix + ".gz";
      case ZSTD -> suffix + ".zst";
    };
  }
}
