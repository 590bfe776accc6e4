package dev.kakehashi.rest.bulk;

import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ContentType;
import dev.kakehashi.rest.sql.AnswerFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Formats of files as HTTP names them.
enum FileKind {
  CSV("text/csv", "csv"),
  ARROW_STREAM("application/vnd.apache.arrow.stream", "arrows"),
  PARQUET("application/vnd.apache.parquet", "parquet"),
  ARROW("application/vnd.apache.arrow.file", "arrow"),
  TEXT("text/plain", "txt"),
  /// Rows as lines; with `force_array` one document.
  JSON("application/x-ndjson", "json");

  private final String mediaType;
  private final String suffix;

  FileKind(String mediaType, String suffix) {
    this.mediaType = mediaType;
    this.suffix = suffix;
  }

  /// Media types of requests and answers with rows. The first is the best one for a client that does not say.
  static List<String> mediaTypes() {
    return Stream.of(values()).filter(FileKind::isNegotiated).map(kind -> kind.mediaType).toList();
  }

  /// Whether its media type says which format is meant: the others are chosen by the option `format` alone.
  private boolean isNegotiated() {
    return this != TEXT && this != JSON;
  }

  /// @param mediaType in small letters, without parameters
  /// @throws Problem 415
  static FileKind ofMediaType(String mediaType) {
    for (FileKind kind : values()) {
      if (kind.isNegotiated() && kind.mediaType.equals(mediaType)) {
        return kind;
      }
    }
    String known = String.join(", ", mediaTypes());
    throw Problem.of(
            415,
            "unsupported-media-type",
            "Unsupported media type",
            "content type \"" + mediaType + "\" is not one of " + known)
        .withHeader("Accept-Post", known);
  }

  /// By the option `format`.
  ///
  /// @param option empty: it is not given
  /// @return null: there is no such format
  static @Nullable FileKind ofOption(String option) {
    if (option.isEmpty()) {
      return TEXT;
    }
    String lower = option.toLowerCase(Locale.ROOT);
    for (FileKind kind : values()) {
      if (kind.option().equals(lower)) {
        return kind;
      }
    }
    return null;
  }

  /// The value of the option `format`.
  String option() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Format of a dump's bytes.
  ///
  /// @param options of it
  AnswerFormat answer(CopyOptionList options) {
    String compression = options.value("compression").toLowerCase(Locale.ROOT);
    String type =
        switch (this) {
          case CSV ->
              mediaType
                  + "; charset=utf-8; header="
                  + (isOn(options, "header") ? "present" : "absent");
          case TEXT -> mediaType + "; charset=utf-8";
          case JSON -> isOn(options, "force_array") ? "application/json" : mediaType;
          default -> mediaType;
        };
    boolean hasLines = this == CSV || this == TEXT || this == JSON;
    return switch (hasLines ? compression : "") {
      case "gzip" -> raw("application/gzip", suffix + ".gz");
      case "zstd" -> raw("application/zstd", suffix + ".zst");
      default -> raw(type, suffix);
    };
  }

  private static AnswerFormat raw(String type, String suffix) {
    return AnswerFormat.of(ContentType.of(type), suffix, DumpBytesEncoder::new);
  }

  /// As PostgreSQL reads Booleans; a value that is none is the engine's to refuse.
  private static boolean isOn(CopyOptionList options, String name) {
    return options.has(name)
        && switch (options.value(name).toLowerCase(Locale.ROOT)) {
          case "true", "on", "1", "" -> true;
          default -> false;
        };
  }
}
