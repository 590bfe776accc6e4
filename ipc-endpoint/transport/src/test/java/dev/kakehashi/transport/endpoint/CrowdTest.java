package dev.kakehashi.transport.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Times are milliseconds after the start; a period has 10.
class CrowdTest {
  private static final int PROCESSORS = 2;
  private static final int MOST = 4;

  private final List<Boolean> told = new ArrayList<>();
  private final Crowd crowd = new Crowd(PROCESSORS, 0, told::add);
  private final List<Client> clients = new ArrayList<>();

  private static final class Client implements Crowd.Asker {
    private long last = -1;

    @Override
    public boolean firstOf(long period) {
      boolean first = last != period;
      last = period;
      return first;
    }
  }

  private void ask(int count, int millis) {
    while (clients.size() < count) {
      clients.add(new Client());
    }
    clients.subList(0, count).forEach(client -> crowd.asked(client, millis * 1_000_000L));
  }

  @Test
  void shouldSayNothingOfFewWhoAskOften() {
    for (int millis = 0; millis < 100; millis++) {
      ask(MOST, millis);
    }
    assertEquals(List.of(), told);
  }

  @Test
  void shouldSayItOnceWhenOneMoreAsks() {
    for (int millis = 0; millis < 100; millis++) {
      ask(MOST + 1, millis);
    }
    assertEquals(List.of(true), told);
  }

  @Test
  void shouldTakeItBackAfterAPeriodOfFew() {
    ask(MOST + 1, 1);
    ask(MOST, 12);
    assertEquals(List.of(true), told, "the period of many has just ended");
    ask(MOST, 23);
    assertEquals(List.of(true, false), told);
  }

  @Test
  void shouldForgetACrowdOfLongAgo() {
    ask(MOST + 1, 1);
    ask(1, 1_000);
    assertEquals(List.of(true, false), told);
  }
}
