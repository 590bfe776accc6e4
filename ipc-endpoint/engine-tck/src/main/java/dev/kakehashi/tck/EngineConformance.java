package dev.kakehashi.tck;

import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.tck.cases.BulkCases;
import dev.kakehashi.tck.cases.CancellationCases;
import dev.kakehashi.tck.cases.CatalogueCases;
import dev.kakehashi.tck.cases.DurabilityCases;
import dev.kakehashi.tck.cases.ErrorCases;
import dev.kakehashi.tck.cases.IsolationCases;
import dev.kakehashi.tck.cases.LockCases;
import dev.kakehashi.tck.cases.RefusalCases;
import dev.kakehashi.tck.cases.SavepointCases;
import dev.kakehashi.tck.cases.SessionCases;
import dev.kakehashi.tck.cases.StatementCases;
import dev.kakehashi.tck.cases.TransactionCases;
import dev.kakehashi.tck.cases.TwoPhaseCases;
import dev.kakehashi.tck.cases.TypeCases;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.EngineUnderTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/// The conformance suite. A test class of an engine extends it and says how the engine is opened.
///
/// One engine serves all cases, one after another; some restart it. The results are written to `target/tck-NAME.txt`, a line for each case:
/// `passed`, `refused` with the capability that the engine lacks, `FAILED`.
///
/// `-Dkakehashi.tck.rows` is the length of large results, `-Dkakehashi.tck.rounds` the work of each of the sessions that run at a time.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(ConformanceRun.class)
public abstract class EngineConformance
    implements BulkCases,
        CancellationCases,
        CatalogueCases,
        DurabilityCases,
        ErrorCases,
        IsolationCases,
        LockCases,
        RefusalCases,
        SavepointCases,
        SessionCases,
        StatementCases,
        TransactionCases,
        TwoPhaseCases,
        TypeCases {
  private final AtomicInteger names = new AtomicInteger();
  private final TreeMap<String, String> results = new TreeMap<>();
  private final List<DrivenEngine> clients = new ArrayList<>();
  private @Nullable EngineUnderTest underTest;
  private @Nullable DrivenEngine client;

  /// Makes the engine at a place of its own, without opening it. Called once.
  protected abstract EngineUnderTest create() throws Exception;

  @BeforeAll
  void openEngine() throws Exception {
    EngineUnderTest made = create();
    underTest = made;
    made.open();
  }

  @AfterEach
  void closeClients() {
    client = null;
    clients.forEach(DrivenEngine::close);
    clients.clear();
  }

  @AfterAll
  void closeEngine() throws Exception {
    EngineUnderTest made = underTest();
    try {
      made.shutDown();
      report(made.reportName());
    } finally {
      made.close();
    }
  }

  private void report(String name) throws IOException {
    List<String> lines = new ArrayList<>();
    results.forEach((test, result) -> lines.add("%-90s %s".formatted(test, result)));
    Path target = Path.of("target");
    Files.createDirectories(target);
    Files.write(target.resolve("tck-" + name + ".txt"), lines);
  }

  /// Result of a case.
  void note(String cases, String test, String result) {
    results.put(cases + "." + test, result);
  }

  @Override
  public EngineUnderTest underTest() {
    return Objects.requireNonNull(underTest, "the engine has not been made");
  }

  @Override
  public Capabilities capabilities() {
    return underTest().engine().capabilities();
  }

  @Override
  public DrivenEngine client() {
    DrivenEngine open = client;
    if (open == null) {
      open = another();
      client = open;
    }
    return open;
  }

  @Override
  public DrivenEngine another() {
    return another("tck", "");
  }

  @Override
  public DrivenEngine another(String userName, String owner) {
    DrivenEngine opened = new DrivenEngine(underTest().engine(), userName, owner);
    clients.add(opened);
    return opened;
  }

  @Override
  public String table(String columns) {
    String name = freshName();
    client().run("create table " + name + " (" + columns + ")");
    return name;
  }

  @Override
  public String freshName() {
    return "tck" + names.incrementAndGet();
  }

  @Override
  public void restart() throws Exception {
    closeClients();
    underTest().shutDown();
    underTest().open();
  }
}
