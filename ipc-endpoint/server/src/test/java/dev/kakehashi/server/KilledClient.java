package dev.kakehashi.server;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A client process that holds a transaction, buffers and a result that is not read, until somebody kills it.
final class KilledClient {
  /// Word that it prints once it holds all of that.
  static final String READY = "ready";

  static Process start(Path runtimeDirectory) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Options that Chronicle Queue and native access need, as this process has them.
      if (option.startsWith("--")) {
        command.add(option);
      }
    }
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            KilledClient.class.getName(),
            runtimeDirectory.toString()));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  public static void main(String[] arguments) throws IOException {
    Session session = Session.attach(AttachOptions.of(Path.of(arguments[0])));
    PreparedStatement insert = session.prepare(FixedEngine.INSERT);
    PreparedStatement numbers = session.prepare(FixedEngine.NUMBERS);
    session.acquireBuffers(2, 1 << 20);
    Transaction transaction = session.begin();
    transaction.update(insert, insert.parameters().addRow(1L, "never committed"));
    Rows rows = transaction.query(numbers, numbers.parameters().addRow(100_000_000L));
    if (!rows.next()) {
      throw new IllegalStateException("no rows");
    }
    System.out.println(READY);
    int end = System.in.read(); // nothing comes; the end of the test process would end this one too
    System.exit(end);
  }

  private KilledClient() {}
}
