package dev.kakehashi.tools.shell;

import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// The constants of the protocol's enumerations as people write them: `repeatable-read`, in any case, with a hyphen, underscore or blank
/// between.
public final class TransactionWords {
  private TransactionWords() {}

  static String of(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static <E extends Enum<E>> List<String> all(Class<E> type) {
    return constants(type).stream().map(TransactionWords::of).toList();
  }

  static <E extends Enum<E>> Optional<E> find(Class<E> type, String text) {
    String wanted = text.strip().toUpperCase(Locale.ROOT).replace('-', '_').replace(' ', '_');
    return constants(type).stream().filter(each -> each.name().equals(wanted)).findFirst();
  }

  /// Without that of a message that has none.
  private static <E extends Enum<E>> List<E> constants(Class<E> type) {
    return Arrays.stream(type.getEnumConstants())
        .filter(each -> !each.name().equals("NULL_VAL"))
        .toList();
  }

  /// Values of an option.
  abstract static class Words<E extends Enum<E>> implements ITypeConverter<E>, Iterable<String> {
    private final Class<E> type;

    Words(Class<E> type) {
      this.type = type;
    }

    @Override
    public E convert(String text) {
      return find(type, text)
          .orElseThrow(() ->
              new TypeConversionException(
                  "expected one of %s but was \"%s\""
                      .formatted(String.join(", ", all(type)), text)));
    }

    @Override
    public Iterator<String> iterator() {
      return all(type).iterator();
    }
  }

  /// Kinds of transactions.
  public static final class Kinds extends Words<TransactionKind> {
    Kinds() {
      super(TransactionKind.class);
    }
  }

  /// Levels of isolation.
  public static final class Levels extends Words<IsolationLevel> {
    Levels() {
      super(IsolationLevel.class);
    }
  }

  /// When a commit is reported.
  public static final class Responses extends Words<CommitResponse> {
    Responses() {
      super(CommitResponse.class);
    }
  }
}
