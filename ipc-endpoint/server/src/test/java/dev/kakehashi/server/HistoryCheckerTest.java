package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.server.History.Append;
import dev.kakehashi.server.History.Outcome;
import dev.kakehashi.server.History.Read;
import dev.kakehashi.server.History.Transaction;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The checker finds what it is for.
class HistoryCheckerTest {
  private static Transaction committed(String name, List<Read> reads, Append... appends) {
    return new Transaction(name, Outcome.COMMITTED, reads, List.of(appends));
  }

  private static List<String> check(
      Map<Long, List<Long>> finals, boolean serializable, Transaction... transactions) {
    History history = new History();
    for (Transaction transaction : transactions) {
      history.add(transaction);
    }
    return history.check(finals, serializable);
  }

  @Test
  void shouldAcceptSerialHistory() {
    assertEquals(
        List.of(),
        check(
            Map.of(1L, List.of(10L, 11L)),
            true,
            committed("a", List.of(new Read(1, List.of())), new Append(1, 10)),
            committed("b", List.of(new Read(1, List.of(10L))), new Append(1, 11)),
            committed("c", List.of(new Read(1, List.of(10L, 11L)), new Read(2, List.of())))));
  }

  @Test
  void shouldFindWriteSkewThatSnapshotIsolationAllows() {
    Transaction a = committed("a", List.of(new Read(2, List.of())), new Append(1, 10));
    Transaction b = committed("b", List.of(new Read(1, List.of())), new Append(2, 20));
    Map<Long, List<Long>> finals = Map.of(1L, List.of(10L), 2L, List.of(20L));
    assertEquals(List.of(), check(finals, false, a, b));
    assertTrue(check(finals, true, a, b).getFirst().startsWith("cycle"));
  }

  @Test
  void shouldFindLostUpdate() {
    Transaction a = committed("a", List.of(new Read(1, List.of())), new Append(1, 10));
    Transaction b = committed("b", List.of(new Read(1, List.of())), new Append(1, 11));
    assertTrue(check(Map.of(1L, List.of(10L, 11L)), false, a, b).getFirst().startsWith("cycle"));
    assertTrue(check(Map.of(1L, List.of(11L)), false, a, b).getFirst().contains("0 of its 1"));
  }

  @Test
  void shouldFindSkewedRead() {
    // It sees what b wrote to one list, and not what b wrote to the other.
    Transaction b = committed("b", List.of(), new Append(1, 10), new Append(2, 20));
    Transaction reader = committed("r", List.of(new Read(1, List.of(10L)), new Read(2, List.of())));
    assertTrue(
        check(Map.of(1L, List.of(10L), 2L, List.of(20L)), false, b, reader)
            .getFirst()
            .startsWith("cycle"));
  }

  @Test
  void shouldFindAbortedReadAndHalfTransaction() {
    Transaction aborted =
        new Transaction("x", Outcome.ABORTED, List.of(), List.of(new Append(1, 10)));
    Transaction reader = committed("r", List.of(new Read(1, List.of(10L))));
    assertTrue(
        check(Map.of(1L, List.of()), false, aborted, reader).getFirst().contains("never was"));
    Transaction half =
        new Transaction(
            "h", Outcome.UNKNOWN, List.of(), List.of(new Append(1, 10), new Append(2, 20)));
    assertTrue(check(Map.of(1L, List.of(10L)), false, half).getFirst().contains("1 of its 2"));
    assertEquals(List.of(), check(Map.of(), false, half));
  }
}
