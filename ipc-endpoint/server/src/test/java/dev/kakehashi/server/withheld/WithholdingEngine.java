package dev.kakehashi.server.withheld;

import dev.kakehashi.engine.api.Backup;
import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.Roles;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.Computation;
import dev.kakehashi.protocol.capability.StoredType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The embedded engine without what a file says: lines of a kind of `schema/capabilities.txt` and a name, as `capability SAVEPOINTS`. It
/// fails when it is asked for that all the same. The file is read again with each look at the capabilities, so that each client that
/// attaches finds another engine.
///
/// Besides, it refuses statements that have the words behind `refuses`, as one does that finds it out when it plans, and says that it may
/// do so. It does not say it of the words behind `surprises`.
final class WithholdingEngine implements Engine {
  static final String NAME = "withholding";

  private final Engine behind;
  private final Path file;

  WithholdingEngine(Engine behind, Path file) {
    this.behind = behind;
    this.file = file;
  }

  Engine behind() {
    return behind;
  }

  @Override
  public Capabilities capabilities() {
    Capabilities left = Capabilities.everything(NAME);
    for (String line : lines()) {
      String[] words = line.split(" ", 2);
      left =
          switch (words[0]) {
            case "refuses", "surprises" -> left;
            case "capability" -> left.without(Capability.valueOf(words[1]));
            case "computation" -> left.without(Computation.valueOf(words[1]));
            case "type" -> left.without(StoredType.valueOf(words[1]));
            default -> throw new IllegalStateException(file + ": " + line);
          };
    }
    return left;
  }

  private List<String> lines() {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Regular expressions of words of which it refuses statements.
  ///
  /// @param kind `refuses` or `surprises`
  List<String> refused(String kind) {
    return lines().stream()
        .filter(line -> line.startsWith(kind + " "))
        .map(line -> line.substring(kind.length() + 1))
        .toList();
  }

  @Override
  public EngineSession openSession(String userName, String owner) {
    return new WithholdingSession(this, behind.openSession(userName, owner));
  }

  @Override
  public EngineTransaction begin(BeginOptions options) {
    return behind.begin(options);
  }

  @Override
  public void warmUp() {
    behind.warmUp();
  }

  @Override
  public List<PreparedTransaction> preparedTransactions() {
    return behind.preparedTransactions();
  }

  @Override
  public void preparedListener(PreparedTransaction.Listener listener) {
    behind.preparedListener(listener);
  }

  @Override
  public RecoveredOutcomes recoveredOutcomes() {
    return behind.recoveredOutcomes();
  }

  @Override
  public void whenAllDurable(Runnable done) {
    behind.whenAllDurable(done);
  }

  @Override
  public void clientSessions(Supplier<List<ClientSession>> sessions) {
    behind.clientSessions(sessions);
  }

  @Override
  public void requestTimes(Supplier<long[]> times) {
    behind.requestTimes(times);
  }

  @Override
  public void blockingExecutor(BlockingExecutor executor) {
    behind.blockingExecutor(executor);
  }

  @Override
  public void transactionTokens(BiFunction<String, String, OptionalLong> references) {
    behind.transactionTokens(references);
  }

  @Override
  public void bulkAccess(BulkAccess access) {
    behind.bulkAccess(access);
  }

  @Override
  public Roles roles() {
    return behind.roles();
  }

  @Override
  public @Nullable QueueSystem queues() {
    return behind.queues();
  }

  @Override
  public Backup backup() {
    return behind.backup();
  }

  @Override
  public List<String> definitions() {
    return behind.definitions();
  }

  @Override
  public List<ApplicationDefinition> applicationDefinitions() {
    return behind.applicationDefinitions();
  }

  @Override
  public void close() {
    behind.close();
  }
}
