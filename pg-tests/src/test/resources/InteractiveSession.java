import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.CopyCommand;
import dev.kakehashi.client.DumpOutcome;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Scanner;

/// Does what the lines of its input say, in one session and one transaction at a time, and ends each answer with the word `done` on a line
/// of its own. Failures are shown by their SQLSTATE. Run from its source:
/// `java --class-path kakehashi-tools.jar InteractiveSession.java RUNTIME_DIRECTORY`.
///
/// | line | does |
/// |---|---|
/// | `begin`, `commit`, `rollback`, `savepoint`, `state` | what they say |
/// | `release N`, `back N` | ends a savepoint of that level, goes back to it |
/// | `token`, `continue TOKEN` | the name of the transaction, another one by its name |
/// | `change SQL` | the number of rows changed |
/// | `count SQL` | the result, one value of type int8 |
/// | `prepare ID`, `decide commit ID`, `decide rollback ID` | two-phase commit |
/// | `load TABLE PLACE OPTIONS`, `dump TABLE PLACE OPTIONS` | the number of rows; a place is a location of the endpoint |
/// | `add TABLE PLACE OPTIONS` | loads in the transaction |
/// | `send TABLE FILE OPTIONS`, `fetch TABLE FILE OPTIONS` | the same by streams from and to a file of this process: rows, bytes |
/// | `call PROCEDURE NUMBER…` | the number of rows of a procedure whose parameters are of type int8, in the transaction |
/// | `leave` | ends the session, and begins another one |
public final class InteractiveSession {
  private final Path runtimeDirectory;
  private Session session;
  private Transaction transaction;

  private InteractiveSession(Path runtimeDirectory) {
    this.runtimeDirectory = runtimeDirectory;
    this.session = Session.attach(AttachOptions.of(runtimeDirectory));
  }

  public static void main(String[] arguments) throws IOException {
    var interactive = new InteractiveSession(Path.of(arguments[0]));
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      try {
        interactive.run(line);
      } catch (IOException e) {
        System.out.println("failed " + e);
      } catch (EndpointException e) {
        System.out.println("error " + e.sqlstate());
      }
      System.out.println("done");
    }
    interactive.session.close();
  }

  private void run(String line) throws IOException {
    var words = new Scanner(line);
    String verb = words.next();
    switch (verb) {
      case "begin" -> transaction = session.begin();
      case "commit" -> transaction.commit();
      case "rollback" -> transaction.rollback();
      case "savepoint" -> System.out.println(transaction.savepoint());
      case "release" -> transaction.releaseSavepoint(words.nextInt());
      case "back" -> transaction.rollbackToSavepoint(words.nextInt());
      case "token" -> System.out.println(transaction.token());
      case "continue" -> transaction = session.continueTransaction(words.next());
      case "state" -> System.out.println(session.outcome(transaction.handle()));
      case "change" -> change(words.nextLine());
      case "count" -> count(words.nextLine());
      case "prepare" -> transaction.prepare(words.next());
      case "decide" -> {
        if (words.next().equals("commit")) {
          session.commitPrepared(words.next());
        } else {
          session.rollbackPrepared(words.next());
        }
      }
      case "load", "add", "dump", "send", "fetch" ->
          copy(verb, words.next(), words.next(), words.hasNextLine() ? words.nextLine() : "");
      case "call" -> call(words.next(), words.tokens().map(Long::valueOf).toArray(Long[]::new));
      case "leave" -> {
        session.close();
        session = Session.attach(AttachOptions.of(runtimeDirectory));
      }
      default -> throw new IllegalArgumentException(line);
    }
  }

  private void copy(String verb, String table, String place, String options)
      throws IOException {
    Bulk bulk = verb.equals("add") ? Bulk.in(session, transaction) : Bulk.of(session);
    CopyCommand load = CopyCommand.into(table).option(options.strip());
    CopyCommand dump = CopyCommand.of(table).option(options.strip());
    System.out.println(
        switch (verb) {
          case "load", "add" -> bulk.load(load, place).loaded();
          case "dump" -> bulk.dump(dump, place).stream().mapToLong(DumpOutcome::rows).sum();
          case "send" -> {
            try (InputStream in = Files.newInputStream(Path.of(place))) {
              yield bulk.load(load, in, 0).loaded();
            }
          }
          default -> {
            try (OutputStream out = Files.newOutputStream(Path.of(place))) {
              yield bulk.dump(dump, out);
            }
          }
        });
  }

  private void call(String name, Long[] values) {
    int[] types = new int[values.length];
    Arrays.fill(types, 20);
    long count = 0;
    try (Rows rows = transaction.call(session.procedure(name, types), (Object[]) values)) {
      while (rows.next()) {
        count++;
      }
    }
    System.out.println(count);
  }

  private void change(String sql) {
    try (PreparedStatement statement = session.prepare(sql)) {
      System.out.println(transaction.update(statement));
    }
  }

  private void count(String sql) {
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = transaction.query(statement)) {
      rows.next();
      System.out.println(rows.getLong(0));
    }
  }
}
