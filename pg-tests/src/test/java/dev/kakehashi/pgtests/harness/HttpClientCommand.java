package dev.kakehashi.pgtests.harness;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// Requests to the HTTP door of an endpoint by its Unix socket, sent by curl as the servers' OS user, whom the kernel vouches for.
/// Stateless.
///
/// @param socket of the endpoint's setting `http_socket`
public record HttpClientCommand(Path socket) {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String TRANSACTION = "kakehashi-transaction";

  /// An answer.
  ///
  /// @param fields of the header, names in small letters
  public record Answer(int status, Map<String, String> fields, String body) {
    /// State of its transaction, as `active;handle="…"`; empty: the answer says nothing of it.
    public String transaction() {
      return fields.getOrDefault(TRANSACTION, "");
    }

    /// The handle of its transaction.
    public String handle() {
      return transaction().replaceFirst(".*handle=\"([0-9a-f]+)\".*", "$1");
    }
  }

  /// Sends a request, and keeps the answer's body in a file if it is asked to.
  ///
  /// @param target path and query
  /// @param data the body, or `@` and the file that has it; empty: none
  /// @param into where the body goes; empty: into the answer
  /// @param fields each as `Name: value`
  public Answer send(String method, String target, String data, String into, String... fields) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "curl",
                "--silent",
                "--show-error",
                "--request",
                method,
                "--dump-header",
                "-",
                "--output",
                into.isEmpty() ? "-" : into,
                "--unix-socket",
                socket.toString(),
                "--header",
                "Expect:"));
    if (!data.isEmpty()) {
      command.addAll(List.of("--data-binary", data));
    }
    for (String field : fields) {
      command.addAll(List.of("--header", field));
    }
    command.add("http://localhost" + target);
    return run(command);
  }

  /// Sends a statement.
  ///
  /// @param sql empty: none
  /// @param transaction the value of the field; empty: no field
  public Answer sql(String sql, String transaction) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "curl",
                "--silent",
                "--show-error",
                "--include",
                "--unix-socket",
                socket.toString(),
                "--header",
                "Content-Type: application/sql",
                "--header",
                "Accept: text/csv;header=absent",
                "--data-binary",
                sql));
    if (!transaction.isEmpty()) {
      command.addAll(List.of("--header", "Kakehashi-Transaction: " + transaction));
    }
    command.add("http://localhost/v1/sql");
    return run(command);
  }

  private static Answer run(List<String> command) {
    OsProcess.Outcome outcome = OsProcess.run(command, Map.of(), "", LIMIT);
    if (outcome.exitCode() != 0) {
      throw new IllegalStateException("curl ended with " + outcome);
    }
    return answer(outcome.output());
  }

  private static Answer answer(String text) {
    int end = text.indexOf("\r\n\r\n");
    String[] lines = text.substring(0, end).split("\r\n", -1);
    Map<String, String> fields = new TreeMap<>();
    for (int i = 1; i < lines.length; i++) {
      String[] field = lines[i].split(": ?", 2);
      fields.put(field[0].toLowerCase(java.util.Locale.ROOT), field[1]);
    }
    String status = Objects.requireNonNull(lines[0]).split(" ", -1)[1];
    return new Answer(Integer.parseInt(status), fields, text.substring(end + 4).strip());
  }
}
