package dev.kakehashi.tools.shell;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The way to an endpoint, and the transaction that statements of SQL begin and end. Used by one thread; [#cancel] by any.
///
/// An act that a way cannot do is a [ShellException], which says so.
public abstract class Link implements AutoCloseable {
  /// How transactions begin and end.
  ///
  /// @param options of each transaction
  /// @param response when its commit is reported
  public record Manner(TransactionOptions options, CommitResponse response) {
    public static final Manner DEFAULT =
        new Manner(TransactionOptions.DEFAULT, CommitResponse.STORED);
  }

  private final List<String> savepoints = new ArrayList<>();
  private Manner manner;
  private boolean failed;

  /// @param manner of its transactions
  protected Link(Manner manner) {
    this.manner = manner;
  }

  public Manner manner() {
    return manner;
  }

  /// From the next transaction on.
  public void manner(Manner next) {
    manner = next;
  }

  // ---- what each way does ----

  /// Whether a transaction is open that [#beginNow] has begun.
  public abstract boolean isInTransaction();

  /// Whether a statement can have a manner without a transaction that is begun for it.
  protected abstract boolean carries(Manner wanted);

  protected abstract void beginNow(TransactionOptions options);

  /// Commits the open transaction, which is none any more afterwards.
  protected abstract void commitNow(CommitResponse response);

  /// Rolls the open transaction back, if it has not ended by itself.
  protected abstract void rollbackNow();

  protected abstract void savepointNow();

  /// @param level from 1
  protected abstract void releaseNow(int level);

  /// @param level from 1
  protected abstract void rollbackToNow(int level);

  protected abstract void prepareNow(String globalId);

  /// Runs a statement, in the open transaction or in one of its own.
  protected abstract Running start(String sql);

  /// Columns of a statement that is not run; none: it gives no rows.
  public abstract List<ResultColumn> describe(String sql);

  /// Stops what runs, if anything does. Any thread.
  public abstract void cancel();

  /// False once the endpoint has gone.
  public abstract boolean isAlive();

  /// Goes there again, after the endpoint has gone; the transaction is lost.
  ///
  /// @return whether it is there
  protected abstract boolean reconnectNow();

  boolean reconnect() {
    failed = false;
    savepoints.clear();
    return reconnectNow();
  }

  /// Copies files of this machine, in the open transaction if there is one.
  public abstract Bulk bulk();

  /// Another one to the same endpoint as the same user, for questions beside a statement that runs.
  public abstract Link beside();

  /// Where it leads to, for people.
  public abstract String place();

  @Override
  public abstract void close();

  /// Whether a statement of the transaction has failed.
  public boolean isFailed() {
    return failed;
  }

  void failed() {
    failed = isInTransaction();
  }

  // ---- transactions ----

  /// Does what a statement says if it is about transactions.
  ///
  /// @return its command tag; null: it is another statement
  public @Nullable String control(String sql) {
    String[] words = SqlScanner.words(sql, 8);
    return switch (words[0]) {
      case "BEGIN" -> begin(words, 1);
      case "START" -> words[1].equals("TRANSACTION") ? begin(words, 2) : null;
      case "COMMIT", "END" -> words[1].equals("PREPARED") ? null : commit();
      case "ROLLBACK", "ABORT" -> rollback(sql, words);
      case "SAVEPOINT" -> savepoint(name(sql, words[0]));
      case "RELEASE" -> release(name(sql, words[1].equals("SAVEPOINT") ? "SAVEPOINT" : "RELEASE"));
      case "PREPARE" -> words[1].equals("TRANSACTION") ? prepare(sql) : null;
      default -> null;
    };
  }

  private String begin(String[] words, int from) {
    if (isInTransaction()) {
      throw new ShellException("there is already a transaction in progress");
    }
    String all = " " + String.join(" ", List.of(words).subList(from, words.length)).strip() + " ";
    TransactionOptions chosen = manner.options();
    if (all.contains(" SERIALIZABLE ")) {
      chosen = chosen.withIsolation(IsolationLevel.SERIALIZABLE);
    } else if (all.contains(" REPEATABLE READ ")) {
      chosen = chosen.withIsolation(IsolationLevel.REPEATABLE_READ);
    } else if (all.contains(" READ COMMITTED ") || all.contains(" READ UNCOMMITTED ")) {
      chosen = chosen.withIsolation(IsolationLevel.READ_COMMITTED);
    }
    if (all.contains(" READ ONLY ")) {
      chosen = chosen.withKind(TransactionKind.RTX);
    }
    open(chosen);
    return words[0].equals("START") ? "START TRANSACTION" : "BEGIN";
  }

  private void open(TransactionOptions chosen) {
    beginNow(chosen);
    failed = false;
    savepoints.clear();
  }

  private void require(String command) {
    if (!isInTransaction()) {
      throw new ShellException(command + " can only be used in transaction blocks");
    }
  }

  private String commit() {
    if (!isInTransaction()) {
      throw new ShellException("there is no transaction in progress");
    }
    if (failed) {
      failed = false;
      rollbackNow();
      return "ROLLBACK";
    }
    commitNow(manner.response());
    return "COMMIT";
  }

  private @Nullable String rollback(String sql, String[] words) {
    int at = words[1].equals("WORK") || words[1].equals("TRANSACTION") ? 2 : 1;
    if (words[at].equals("PREPARED")) {
      return null;
    }
    if (words[at].equals("TO")) {
      rollbackTo(name(sql, words[at + 1].equals("SAVEPOINT") ? "SAVEPOINT" : "TO"));
      return "ROLLBACK";
    }
    if (!isInTransaction()) {
      throw new ShellException("there is no transaction in progress");
    }
    failed = false;
    rollbackNow();
    return "ROLLBACK";
  }

  private String savepoint(String name) {
    require("SAVEPOINT");
    savepointNow();
    savepoints.add(name);
    return "SAVEPOINT";
  }

  private int level(String name) {
    int level = savepoints.lastIndexOf(name) + 1;
    if (level == 0) {
      throw new ShellException("savepoint \"" + name + "\" does not exist");
    }
    return level;
  }

  private String release(String name) {
    require("RELEASE SAVEPOINT");
    int level = level(name);
    releaseNow(level);
    savepoints.subList(level - 1, savepoints.size()).clear();
    return "RELEASE";
  }

  private void rollbackTo(String name) {
    require("ROLLBACK TO SAVEPOINT");
    int level = level(name);
    rollbackToNow(level);
    savepoints.subList(level, savepoints.size()).clear();
    failed = false;
  }

  private String prepare(String sql) {
    require("PREPARE TRANSACTION");
    int from = sql.indexOf('\'');
    int to = sql.lastIndexOf('\'');
    if (from < 0 || to <= from) {
      throw new ShellException("PREPARE TRANSACTION wants an identifier in quotes");
    }
    prepareNow(sql.substring(from + 1, to).replace("''", "'"));
    return "PREPARE TRANSACTION";
  }

  /// The word after a keyword: in lower case, or as it is in quotes.
  private static String name(String sql, String keyword) {
    int at = sql.toUpperCase(Locale.ROOT).indexOf(keyword) + keyword.length();
    String name = sql.substring(at).strip();
    if (name.startsWith("\"") && name.endsWith("\"") && name.length() > 2) {
      return name.substring(1, name.length() - 1).replace("\"\"", "\"");
    }
    return name.toLowerCase(Locale.ROOT);
  }

  // ---- statements ----

  /// Runs a statement.
  Running run(String sql) {
    if (!isInTransaction() && !carries(manner)) {
      open(manner.options());
    }
    return start(sql);
  }

  /// The statement of [#run] has ended, or could not begin.
  ///
  /// @param own whether the transaction was begun for it
  void ended(boolean own, boolean succeeded) {
    if (own && isInTransaction()) {
      if (succeeded) {
        commitNow(manner.response());
      } else {
        rollbackNow();
      }
    }
  }
}
