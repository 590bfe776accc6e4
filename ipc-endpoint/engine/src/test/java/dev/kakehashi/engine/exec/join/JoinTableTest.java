package dev.kakehashi.engine.exec.join;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JoinTableTest {
  private static final int KEYS = 997;

  /// Rows of the tasks: around the sizes of chunks, none, fewer than a first chunk has room for.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "1",
        "1024",
        "0 0 3",
        "3 0 5",
        "63 64 65",
        "1023 2 1",
        "1024 1024",
        "1025 10 2048",
        "10 2048 3000 1",
        "500 600 700 800",
        "5000 4097 1024 0 77"
      })
  void shouldFindTheRowsOfAllTasks(String sizes) {
    for (int parts = 1; parts <= 3; parts++) {
      assertFound(sizes.split(" ", -1), parts);
    }
  }

  private static void assertFound(String[] sizes, int parts) {
    long heapBefore = VarHeap.heldBytes();
    MemoryAccount memory = new MemoryAccount();
    Map<Integer, Set<String>> expected = new HashMap<>();
    List<JoinTable> tables = new ArrayList<>();
    int value = 0;
    for (String size : sizes) {
      JoinTable table =
          new JoinTable(new int[] {TypeOid.INT8, TypeOid.TEXT}, new int[] {0}, memory);
      tables.add(table);
      for (int i = 0; i < Integer.parseInt(size); i++, value++) {
        append(table, value);
        if (value % 5 != 0) {
          expected.computeIfAbsent(value % KEYS, key -> new HashSet<>()).add("value " + value);
        }
      }
      table.hashRows();
    }
    JoinTable table = tables.getFirst();
    table.expect(value);
    tables.subList(1, tables.size()).forEach(table::append);
    table.prepare();
    for (int part = parts - 1; part >= 0; part--) {
      table.link(part, parts);
    }
    assertEquals(value, table.rows().size());
    Map<Integer, Set<String>> found = new HashMap<>();
    int links = 0;
    try (VectorBatch probe = new VectorBatch(1)) {
      probe.size = 1;
      for (int key = 0; key < KEYS; key++) {
        probe.columns[0].words[0] = key;
        long hash = table.hash(probe.columns, 0);
        for (int row = table.first(hash); row >= 0; row = table.next(row)) {
          if (table.hash(row) == hash && table.rows().word(0, row) == key) {
            found
                .computeIfAbsent(key, k -> new HashSet<>())
                .add(Varlena.string(table.rows().word(1, row)));
            links++;
          }
        }
      }
    }
    assertEquals(expected, found);
    assertEquals(expected.values().stream().mapToInt(Set::size).sum(), links);
    tables.forEach(JoinTable::close);
    assertEquals(heapBefore, VarHeap.heldBytes());
  }

  /// Each fifth key is null.
  private static void append(JoinTable table, int value) {
    try (VectorBatch batch = new VectorBatch(2)) {
      batch.size = 1;
      if (value % 5 == 0) {
        batch.columns[0].setNull(0);
      } else {
        batch.columns[0].words[0] = value % KEYS;
      }
      batch.columns[1].words[0] = Varlena.of(batch.heap, "value " + value);
      table.rows().append(batch);
    }
  }
}
