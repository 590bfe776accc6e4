package dev.kakehashi.rest.bulk;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.json.StrictJson;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.route.ExchangeRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Options of one COPY as a request has them, in its order. Their values are the engine's to check. Not thread-safe.
public final class CopyOptionList {
  /// Options of a load.
  public static final Set<String> LOAD =
      Set.of(
          "format",
          "delimiter",
          "null",
          "default",
          "header",
          "quote",
          "escape",
          "force_not_null",
          "force_null",
          "encoding",
          "freeze",
          "on_error",
          "reject_limit",
          "reject_ratio",
          "reject_file",
          "log_verbosity",
          "files",
          "compression",
          "match_by",
          "extra_columns",
          "truncate",
          "batch_rows",
          "load_id",
          "write_preserve",
          "workers");

  /// Options of a dump.
  public static final Set<String> DUMP =
      Set.of(
          "format",
          "delimiter",
          "null",
          "header",
          "quote",
          "escape",
          "force_array",
          "force_quote",
          "encoding",
          "compression",
          "codec",
          "column_codec",
          "row_group_rows",
          "file_size",
          "partition_by",
          "order_by",
          "overwrite",
          "numeric_as",
          "text_columns",
          "infinity",
          "workers");

  /// Options with several values, which a query parameter separates by commas.
  private static final Set<String> LISTS =
      Set.of(
          "force_not_null",
          "force_null",
          "force_quote",
          "files",
          "column_codec",
          "partition_by",
          "order_by",
          "numeric_as",
          "text_columns");

  private static final int MAX_VALUES = 10_000;

  private final Set<String> known;
  private final Map<String, List<String>> values = new LinkedHashMap<>();

  /// @param known [#LOAD] or [#DUMP]
  CopyOptionList(Set<String> known) {
    this.known = known;
  }

  /// Names of query parameters: the options without some, and `columns`.
  static String[] parameters(Set<String> known, String... without) {
    Set<String> names = new TreeSet<>(known);
    List.of(without).forEach(names::remove);
    names.add("columns");
    return names.toArray(new String[0]);
  }

  /// Takes the options that a route has as query parameters.
  void addParameters(ExchangeRequest request) {
    for (String name : new TreeSet<>(known)) {
      @Nullable String value =
          request.route().parameters().contains(name) ? request.parameter(name) : null;
      if (value != null) {
        values.put(name, LISTS.contains(name) ? list(value) : List.of(value));
      }
    }
  }

  /// Values of a query parameter, separated by commas.
  static List<String> list(String value) {
    return Stream.of(value.split(",", -1)).map(String::strip).toList();
  }

  /// Reads the member `options`: an object, whose values are strings, numbers, booleans, or arrays of them.
  void read(StrictJson json) throws IOException {
    json.members(
        known.size(),
        name -> {
          if (!known.contains(name)) {
            throw Problem.unknownName("option", name, new TreeSet<>(known))
                .withSqlstate(ErrorCode.SYNTAX_ERROR)
                .withPointer(json.pointer());
          }
          List<String> read = new ArrayList<>();
          if (json.parser().isExpectedStartArrayToken()) {
            json.array(MAX_VALUES, index -> read.add(value(json)));
          } else {
            read.add(value(json));
          }
          put(name, read, json.pointer());
        });
  }

  private static String value(StrictJson json) throws IOException {
    return switch (json.token()) {
      case VALUE_STRING, VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> json.rawText();
      case VALUE_TRUE, VALUE_FALSE -> String.valueOf(json.bool());
      default -> throw json.wrong("a string, a number, true, false, or an array of them");
    };
  }

  /// Adds the option that has a member of its own.
  void put(String name, String value) {
    put(name, List.of(value), "/" + name);
  }

  private void put(String name, List<String> all, String pointer) {
    if (values.put(name, all) != null) {
      throw Problem.badRequest("option \"" + name + "\" comes twice").withPointer(pointer);
    }
  }

  boolean has(String name) {
    return values.containsKey(name);
  }

  /// The only value of an option; empty: it has none.
  String value(String name) {
    List<String> all = values.getOrDefault(name, List.of());
    return all.size() == 1 ? all.getFirst() : "";
  }

  /// Whether the load commits while it runs.
  boolean hasBatches() {
    return has("batch_rows") && !value("batch_rows").equals("0");
  }

  /// As between the parentheses of WITH; empty: there are none.
  String sql() {
    return values.entrySet().stream()
        .map(option -> option.getKey() + " " + sql(option.getKey(), option.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String sql(String name, List<String> all) {
    String joined = all.stream().map(CopySql::literal).collect(Collectors.joining(", "));
    return LISTS.contains(name) || all.size() != 1 ? "(" + joined + ")" : joined;
  }
}
