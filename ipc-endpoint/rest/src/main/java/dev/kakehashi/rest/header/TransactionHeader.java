package dev.kakehashi.rest.header;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.rest.header.FieldValue.Bool;
import dev.kakehashi.rest.header.FieldValue.InnerList;
import dev.kakehashi.rest.header.FieldValue.Int;
import dev.kakehashi.rest.header.FieldValue.Item;
import dev.kakehashi.rest.header.FieldValue.Text;
import dev.kakehashi.rest.header.FieldValue.Token;
import dev.kakehashi.rest.problem.Problem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// In which transaction a request runs: the field `Kakehashi-Transaction`. Immutable.
///
/// | field | means |
/// |---|---|
/// | none | the statement has a transaction of its own |
/// | `auto;isolation=serializable;commit=available` | the same, with its options |
/// | `begin;kind=ltx;lease=60;label="nightly";write=("orders" "lines")` | begins one, and runs in it |
/// | `continue;handle="…"` | runs in an open one |
/// | `end;handle="…";commit=stored` | runs in it, then commits |
/// | `abort;handle="…"` | rolls it back |
///
/// As RFC 9651 has no lists in parameters, the same may be written as a dictionary: `begin, kind=ltx, write=("orders" "lines")`.
///
/// @param handle the external one of an open transaction; empty: none is named
/// @param options of the transaction that begins
/// @param leaseNanos of it; 0: the default
/// @param commit when a commit is reported
public record TransactionHeader(
    Verb verb, String handle, BeginOptions options, long leaseNanos, CommitResponse commit) {
  /// Name of the field, of requests and answers.
  public static final String NAME = "Kakehashi-Transaction";

  /// Value of a request without the field.
  public static final TransactionHeader NONE =
      new TransactionHeader(Verb.AUTO, "", BeginOptions.DEFAULT, 0, CommitResponse.STORED);

  private static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(3650);
  private static final int MAX_LABEL = 256;

  /// Action on the transaction.
  public enum Verb {
    AUTO,
    BEGIN,
    CONTINUE,
    END,
    ABORT;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    List<String> parameters() {
      return switch (this) {
        case AUTO -> Names.OF_AUTO;
        case BEGIN -> Names.OF_BEGIN;
        case END -> Names.OF_END;
        case CONTINUE, ABORT -> Names.OF_OTHERS;
      };
    }
  }

  /// Names of parameters.
  private static final class Names {
    private static final List<String> OF_AUTO =
        List.of("kind", "isolation", "label", "timeout", "deferrable", "commit");
    private static final List<String> OF_BEGIN =
        List.of(
            "kind",
            "isolation",
            "lease",
            "label",
            "priority",
            "timeout",
            "write",
            "read",
            "read-exclude",
            "deferrable");
    private static final List<String> OF_END = List.of("handle", "commit");
    private static final List<String> OF_OTHERS = List.of("handle");
  }

  /// @param field null: there is none
  /// @throws Problem 400: it is none, or has an unknown word; the nearest known one is in the hint
  public static TransactionHeader parse(@Nullable String field) {
    if (field == null) {
      return NONE;
    }
    try {
      return field.indexOf(',') < 0 || isItem(field)
          ? ofItem(StructuredField.itemWithLists(field))
          : ofDictionary(field);
    } catch (FieldException e) {
      throw Problem.badRequest(NAME + ": " + e.getMessage());
    }
  }

  /// Whether parameters follow the first word; a comma further on is in a string then.
  private static boolean isItem(String field) {
    int semicolon = field.indexOf(';');
    return semicolon >= 0 && semicolon < field.indexOf(',');
  }

  private static TransactionHeader ofItem(Item item) {
    if (!(item.value() instanceof Token(String verb))) {
      throw Problem.badRequest(NAME + " begins with one of " + verbs());
    }
    return of(verb, item.parameters());
  }

  private static TransactionHeader ofDictionary(String field) throws FieldException {
    Map<String, FieldValue> parameters = new LinkedHashMap<>(StructuredField.dictionary(field));
    String verb = parameters.isEmpty() ? "" : parameters.keySet().iterator().next();
    parameters.remove(verb);
    parameters.replaceAll((name, value) ->
        value instanceof Item item && item.parameters().isEmpty() ? item.value() : value);
    return of(verb, parameters);
  }

  private static TransactionHeader of(String word, Map<String, FieldValue> parameters) {
    Verb verb =
        Stream.of(Verb.values())
            .filter(known -> known.text().equals(word))
            .findFirst()
            .orElseThrow(() -> Problem.unknownName("word of " + NAME, word, verbs()));
    for (String name : parameters.keySet()) {
      if (!verb.parameters().contains(name)) {
        throw Problem.unknownName("parameter of " + NAME + ": " + word, name, verb.parameters());
      }
    }
    Parameters values = new Parameters(parameters);
    String handle = values.text("handle");
    if (verb.parameters().contains("handle") && handle.isEmpty()) {
      throw Problem.badRequest(NAME + ": " + word + " needs a handle");
    }
    return new TransactionHeader(
        verb,
        handle,
        verb == Verb.BEGIN || verb == Verb.AUTO ? values.options() : BeginOptions.DEFAULT,
        TimeUnit.SECONDS.toNanos(values.seconds("lease")),
        values.word("commit", CommitResponse.class, CommitResponse.STORED));
  }

  private static List<String> verbs() {
    return Stream.of(Verb.values()).map(Verb::text).toList();
  }

  /// Values by name, each checked for its type.
  private record Parameters(Map<String, FieldValue> values) {
    BeginOptions options() {
      String label = text("label");
      if (label.length() > MAX_LABEL) {
        throw Problem.badRequest(NAME + ": a label has at most " + MAX_LABEL + " characters");
      }
      return new BeginOptions(
          word("kind", BeginOptions.Kind.class, BeginOptions.Kind.OCC),
          word("isolation", BeginOptions.Isolation.class, BeginOptions.Isolation.READ_COMMITTED),
          label,
          (int) number("priority", Integer.MIN_VALUE, Integer.MAX_VALUE),
          TimeUnit.SECONDS.toNanos(seconds("timeout")),
          new BeginOptions.Areas(names("write"), names("read"), names("read-exclude")),
          flag("deferrable"));
    }

    long seconds(String name) {
      return number(name, 0, MAX_SECONDS);
    }

    private long number(String name, long min, long max) {
      return switch (values.get(name)) {
        case null -> 0;
        case Int(long value) when value >= min && value <= max -> value;
        default -> throw wrong(name, "a whole number from " + min + " to " + max);
      };
    }

    String text(String name) {
      return switch (values.get(name)) {
        case null -> "";
        case Text(String value) -> value;
        case FieldValue.Display(String value) -> value;
        default -> throw wrong(name, "a string in quotes");
      };
    }

    private boolean flag(String name) {
      return switch (values.get(name)) {
        case null -> false;
        case Bool(boolean value) -> value;
        default -> throw wrong(name, "true or false (?1, ?0)");
      };
    }

    /// Tables as the engine's lists have them.
    private String names(String name) {
      return switch (values.get(name)) {
        case null -> "";
        case InnerList(List<Item> items, Map<String, FieldValue> none) when none.isEmpty() ->
            items.stream().map(item -> table(name, item)).collect(Collectors.joining(", "));
        default -> throw wrong(name, "a list of strings in parentheses");
      };
    }

    private static String table(String name, Item item) {
      if (item.parameters().isEmpty()
          && item.value() instanceof Text(String table)
          && !table.isBlank()) {
        return table;
      }
      throw wrong(name, "a list of strings in parentheses");
    }

    /// A constant of an enum, in small letters and with `-` for `_`.
    <E extends Enum<E>> E word(String name, Class<E> type, E byDefault) {
      FieldValue value = values.get(name);
      if (value == null) {
        return byDefault;
      }
      List<String> known = Stream.of(type.getEnumConstants()).map(Parameters::word).toList();
      if (!(value instanceof Token(String text))) {
        throw wrong(name, "one of " + String.join(", ", known));
      }
      int index = known.indexOf(text);
      if (index < 0) {
        throw Problem.unknownName("value of " + name + " in " + NAME, text, known);
      }
      return type.getEnumConstants()[index];
    }

    private static String word(Enum<?> constant) {
      return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Problem wrong(String name, String expected) {
      return Problem.badRequest(NAME + ": " + name + " is " + expected);
    }
  }
}
