package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.CopyCommand;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of COPY, as a command line has them.
final class CopyArguments {
  /// Formats by the suffix of a file's name. Nothing else is guessed.
  private static final Map<String, String> SUFFIXES =
      Map.of(
          ".csv", "csv",
          ".txt", "text",
          ".json", "json",
          ".parquet", "parquet",
          ".arrow", "arrow",
          ".arrows", "arrow_stream");

  private static final List<String> COMPRESSIONS = List.of(".gz", ".zst");

  @Option(
      names = {"-f", "--format"},
      paramLabel = "FORMAT",
      description =
          "csv, text, parquet, arrow, arrow_stream, or json of dumps (default: by the file's name, .csv, .txt, .parquet, .arrow, .arrows, .json)")
  private @Nullable String format;

  @Option(
      names = {"-o", "--option"},
      paramLabel = "NAME[=VALUE]",
      description =
          "an option of the engine's COPY, as in \"-o header -o delimiter=; -o 'force_null=(a, b)'\"; may be repeated")
  private List<String> options = List.of();

  /// Whether an option is there.
  boolean has(String name) {
    return options.stream().anyMatch(option -> name(option).equals(name));
  }

  /// Format of a file.
  ///
  /// @throws IllegalArgumentException if neither an option nor its name says it
  String format(String file) {
    if (format != null) {
      return format;
    }
    String name = file.toLowerCase(Locale.ROOT);
    for (String compression : COMPRESSIONS) {
      name =
          name.endsWith(compression)
              ? name.substring(0, name.length() - compression.length())
              : name;
    }
    int dot = name.lastIndexOf('.');
    String known = dot < 0 ? null : SUFFIXES.get(name.substring(dot));
    if (known == null) {
      throw new IllegalArgumentException(
          "the name of \"" + file + "\" does not say its format; use --format");
    }
    return known;
  }

  /// Suffix of files that are named here.
  String suffix() {
    String wanted = format == null ? "csv" : format;
    return SUFFIXES.entrySet().stream()
        .filter(entry -> entry.getValue().equals(wanted))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse("." + wanted);
  }

  /// The command with these options.
  CopyCommand apply(CopyCommand command, String file) {
    CopyCommand result = has("format") ? command : command.option("format", format(file));
    for (String option : options) {
      int equals = option.indexOf('=');
      String value = equals < 0 ? "" : option.substring(equals + 1);
      boolean list = value.length() > 1 && value.startsWith("(") && value.endsWith(")");
      if (equals < 0) {
        result = result.option(name(option));
      } else if (list) {
        result = result.option(name(option) + " " + value);
      } else {
        result = result.option(name(option), value);
      }
    }
    return result;
  }

  /// The options for looking at a file, as SQL writes them.
  String text(String file) {
    return apply(CopyCommand.into("t"), file).options();
  }

  private static String name(String option) {
    int equals = option.indexOf('=');
    String name = equals < 0 ? option : option.substring(0, equals);
    if (!name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
      throw new IllegalArgumentException("\"" + name + "\" is not the name of an option");
    }
    return name.toLowerCase(Locale.ROOT);
  }
}
