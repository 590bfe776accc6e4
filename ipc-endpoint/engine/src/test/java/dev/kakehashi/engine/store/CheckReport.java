package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.engine.store.check.IndexCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Results of a check.
public final class CheckReport implements CheckListener {
  public final List<String> checked = new ArrayList<>();
  public final List<String> problems = new ArrayList<>();

  /// Checks a directory that is not open, as `kakehashi check` does.
  static CheckReport of(Path directory) {
    return of(new StoreConfig(directory, 1L << 30));
  }

  /// The same with queues, if there are any.
  static CheckReport of(StoreConfig config) {
    CheckReport report = new CheckReport();
    try (StoreCheck check = StoreCheck.open(config, report)) {
      if (check != null) {
        check.definitions();
        check.rows(CheckReport::name, Set.of(), store -> List.of());
      }
    }
    return report;
  }

  /// Compares the indexes of an open store with its rows.
  static CheckReport ofIndexes(Store store) {
    CheckReport report = new CheckReport();
    Rows.collect(store);
    IndexCheck.run(((MemoryStore) store).transactions(), CheckReport::name, Set.of(), report);
    return report;
  }

  private static String name(long tableId) {
    return "table " + tableId;
  }

  @Override
  public void checked(String what) {
    checked.add(what);
  }

  @Override
  public void problem(String what) {
    problems.add(what);
  }

  void assertSound() {
    assertEquals(List.of(), problems);
  }

  void assertProblem(String... parts) {
    assertEquals(1, problems.size(), problems.toString());
    for (String part : parts) {
      assertTrue(problems.getFirst().contains(part), problems.toString());
    }
  }

  void assertChecked(String what) {
    assertTrue(checked.contains(what), checked.toString());
  }
}
