package dev.kakehashi.tools.shell;

import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Variables that say how transactions begin and end: `\set TRANSACTION ltx`, `\set WRITE_PRESERVE 'orders, lines'`. They count from the
/// next transaction on. Used by the shell's thread.
public final class TransactionVariables {
  private static final String KIND = "TRANSACTION";
  private static final String ISOLATION = "ISOLATION";
  private static final String LABEL = "LABEL";
  private static final String WRITE_PRESERVE = "WRITE_PRESERVE";
  private static final String READ_INCLUDE = "READ_INCLUDE";
  private static final String READ_EXCLUDE = "READ_EXCLUDE";
  private static final String COMMIT_RESPONSE = "COMMIT_RESPONSE";

  private static final Set<String> NAMES =
      Set.of(KIND, ISOLATION, LABEL, WRITE_PRESERVE, READ_INCLUDE, READ_EXCLUDE, COMMIT_RESPONSE);

  private TransactionVariables() {}

  public static boolean isOne(String name) {
    return NAMES.contains(name);
  }

  /// Shows a manner in variables.
  public static void show(Link.Manner manner, Variables variables) {
    TransactionOptions options = manner.options();
    variables.set(KIND, TransactionWords.of(options.kind()));
    variables.set(ISOLATION, TransactionWords.of(options.isolation()));
    variables.set(LABEL, options.label());
    variables.set(WRITE_PRESERVE, options.writePreserve());
    variables.set(READ_INCLUDE, options.readInclude());
    variables.set(READ_EXCLUDE, options.readExclude());
    variables.set(COMMIT_RESPONSE, TransactionWords.of(manner.response()));
  }

  /// The manner with one variable changed. A kind brings the isolation that it usually has.
  ///
  /// @param value empty: as if nothing were said
  /// @throws ShellException for a value that there is not
  static Link.Manner with(Link.Manner manner, String name, String value) {
    TransactionOptions options = manner.options();
    return switch (name) {
      case KIND -> {
        TransactionKind kind =
            value.isEmpty() ? TransactionKind.OCC : word(TransactionKind.class, name, value);
        yield new Link.Manner(options.withKind(kind).withIsolation(usual(kind)), manner.response());
      }
      case ISOLATION ->
          new Link.Manner(
              options.withIsolation(
                  value.isEmpty()
                      ? usual(options.kind())
                      : word(IsolationLevel.class, name, value)),
              manner.response());
      case COMMIT_RESPONSE ->
          new Link.Manner(
              options,
              value.isEmpty() ? CommitResponse.STORED : word(CommitResponse.class, name, value));
      case LABEL -> new Link.Manner(options.withLabel(value), manner.response());
      case WRITE_PRESERVE -> new Link.Manner(options.withWritePreserve(value), manner.response());
      case READ_INCLUDE ->
          new Link.Manner(options.withReadAreas(value, options.readExclude()), manner.response());
      default ->
          new Link.Manner(options.withReadAreas(options.readInclude(), value), manner.response());
    };
  }

  /// The isolation of a kind, if nothing is said.
  public static IsolationLevel usual(TransactionKind kind) {
    return switch (kind) {
      case LTX -> IsolationLevel.SERIALIZABLE;
      case RTX -> IsolationLevel.REPEATABLE_READ;
      default -> IsolationLevel.READ_COMMITTED;
    };
  }

  private static <E extends Enum<E>> E word(Class<E> type, String name, String value) {
    return TransactionWords.find(type, value)
        .orElseThrow(() ->
            new ShellException(
                "unrecognized value \"%s\" for \"%s\"\nAvailable values are: %s."
                    .formatted(value, name, String.join(", ", TransactionWords.all(type)))));
  }

  /// Takes a variable over that was set or unset.
  ///
  /// @param value null: unset
  public static void changed(Shell shell, String name, @Nullable String value) {
    Link.Manner next = with(shell.link.manner(), name, value == null ? "" : value);
    shell.link.manner(next);
    show(next, shell.variables);
  }
}
