package dev.kakehashi.tools.shell;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.client.TransactionOptions;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import dev.kakehashi.protocol.messages.TransactionState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A session and its transaction, which statements of SQL begin and end. Used by one thread; [#cancel] by any.
public final class Link implements AutoCloseable {
  private final Session session;
  private final TransactionOptions options;
  private final CommitResponse response;
  private final List<String> savepoints = new ArrayList<>();
  private @Nullable Transaction transaction;
  private boolean failed;
  private volatile @Nullable Rows running;

  /// @param options of each transaction
  public Link(Session session, TransactionOptions options, CommitResponse response) {
    this.session = session;
    this.options = options;
    this.response = response;
  }

  public Session session() {
    return session;
  }

  public @Nullable Transaction transaction() {
    return transaction;
  }

  public boolean isInTransaction() {
    return transaction != null;
  }

  /// Whether a statement of the transaction has failed.
  public boolean isFailed() {
    return failed;
  }

  void failed() {
    failed = transaction != null;
  }

  /// Stops what runs, if anything does.
  public void cancel() {
    Rows rows = running;
    if (rows != null) {
      rows.cancel();
    }
  }

  // ---- transactions ----

  /// Does what a statement says if it is about transactions.
  ///
  /// @return its command tag; null: it is another statement
  @Nullable String control(String sql) {
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
    if (transaction != null) {
      throw new ShellException("there is already a transaction in progress");
    }
    String all = " " + String.join(" ", List.of(words).subList(from, words.length)).strip() + " ";
    TransactionOptions chosen = options;
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

  /// Begins one.
  public void open(TransactionOptions chosen) {
    transaction = session.begin(chosen);
    failed = false;
    savepoints.clear();
  }

  private Transaction require(String command) {
    Transaction current = transaction;
    if (current == null) {
      throw new ShellException(command + " can only be used in transaction blocks");
    }
    return current;
  }

  private String commit() {
    Transaction current = transaction;
    if (current == null) {
      throw new ShellException("there is no transaction in progress");
    }
    transaction = null;
    if (failed) {
      failed = false;
      current.rollback();
      return "ROLLBACK";
    }
    current.commit(response);
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
    Transaction current = transaction;
    if (current == null) {
      throw new ShellException("there is no transaction in progress");
    }
    transaction = null;
    failed = false;
    if (current.state() == TransactionState.ACTIVE) {
      current.rollback();
    }
    return "ROLLBACK";
  }

  private String savepoint(String name) {
    Transaction current = require("SAVEPOINT");
    current.savepoint();
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
    Transaction current = require("RELEASE SAVEPOINT");
    int level = level(name);
    current.releaseSavepoint(level);
    savepoints.subList(level - 1, savepoints.size()).clear();
    return "RELEASE";
  }

  private void rollbackTo(String name) {
    Transaction current = require("ROLLBACK TO SAVEPOINT");
    int level = level(name);
    current.rollbackToSavepoint(level);
    savepoints.subList(level, savepoints.size()).clear();
    failed = false;
  }

  private String prepare(String sql) {
    Transaction current = require("PREPARE TRANSACTION");
    int from = sql.indexOf('\'');
    int to = sql.lastIndexOf('\'');
    if (from < 0 || to <= from) {
      throw new ShellException("PREPARE TRANSACTION wants an identifier in quotes");
    }
    transaction = null;
    current.prepare(sql.substring(from + 1, to).replace("''", "'"));
    return "PREPARE TRANSACTION";
  }

  /// The word after a keyword: in lower case, or as it is in quotes.
  private static String name(String sql, String keyword) {
    int at = sql.toUpperCase(java.util.Locale.ROOT).indexOf(keyword) + keyword.length();
    String name = sql.substring(at).strip();
    if (name.startsWith("\"") && name.endsWith("\"") && name.length() > 2) {
      return name.substring(1, name.length() - 1).replace("\"\"", "\"");
    }
    return name.toLowerCase(java.util.Locale.ROOT);
  }

  // ---- statements ----

  /// Runs a statement.
  Rows run(PreparedStatement statement) {
    Transaction current = transaction;
    if (current != null) {
      return noted(current.query(statement));
    }
    if (options.equals(TransactionOptions.DEFAULT) && response == CommitResponse.STORED) {
      return noted(session.query(statement));
    }
    return noted(statement(statement));
  }

  /// One of a transaction with options.
  private Rows statement(PreparedStatement statement) {
    open(options);
    Transaction current = require("statement");
    return current.query(statement);
  }

  private Rows noted(Rows rows) {
    running = rows;
    return rows;
  }

  /// What [#run] has begun has ended.
  ///
  /// @param own whether the transaction was begun for it
  void ended(boolean own, boolean succeeded) {
    running = null;
    Transaction current = transaction;
    if (own && current != null) {
      transaction = null;
      if (succeeded) {
        current.commit(response);
      } else if (current.state() == TransactionState.ACTIVE) {
        current.rollback();
      }
    }
  }

  @Override
  public void close() {
    Transaction current = transaction;
    if (current != null) {
      current.close();
    }
    session.close();
  }
}
