package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/// Commands of several clients in one transaction.
class CommandNumbersTest {
  private final CommandNumbers numbers = new CommandNumbers();

  private int of(Object client, int command) {
    return numbers.of(client, command, false);
  }

  @Test
  void shouldLeaveTheNumbersOfALoneClientAsTheyAre() {
    for (int command : new int[] {3, 1, 4, 1, 5, 9, 2, 6, Integer.MAX_VALUE, -2, 7}) {
      assertEquals(command, of("one", command));
    }
  }

  @Test
  void shouldPutWhatComesLaterBehindWhatOthersHaveDone() {
    Random random = new Random(4711);
    long newest = 0;
    int[] commands = new int[3];
    for (int i = 0; i < 10_000; i++) {
      int client = random.nextInt(3);
      commands[client] += 1 + random.nextInt(3);
      long number = Integer.toUnsignedLong(of(client, commands[client]));
      assertTrue(number > newest, "step " + i);
      newest = number;
    }
  }

  @Test
  void shouldKnowACommandAgain() {
    int first = of("one", 5);
    int other = of("two", 5);
    int second = of("one", 6);
    assertEquals(first, of("one", 5));
    assertEquals(other, of("two", 5));
    assertEquals(second, of("one", 6));
    assertTrue(first < other && other < second);
  }

  @Test
  void shouldKeepTheOrderOfCommandsThatSendTheirRequestsLate() {
    int outer = of("one", 2);
    int other = of("two", 9);
    int inner = of("one", 7);
    int between = of("one", 4);
    assertTrue(outer < other && other < between && between < inner);
    assertTrue(inner < of("two", 10));
  }

  @Test
  void shouldPutAStatementOfAnOldCommandBehindWhatOthersHaveDone() {
    int first = numbers.of("one", 5, true);
    int other = numbers.of("two", 3, true);
    assertEquals(first, numbers.of("one", 5, false));
    int second = numbers.of("one", 5, true);
    assertTrue(first < other && other < second);
    assertEquals(second, numbers.of("one", 5, false));
    assertEquals(second, numbers.of("one", 5, true));
    assertTrue(second < numbers.of("two", 3, true));
    assertTrue(numbers.of("two", 3, false) < numbers.of("one", 6, true));
  }

  @Test
  void shouldKeepFewStretchesOfManyTurns() {
    int last = 0;
    for (int command = 1; command < 5 * CommandNumbers.MAX_STRETCHES; command++) {
      of("one", command);
      last = of("two", command);
    }
    assertTrue(of("one", 5 * CommandNumbers.MAX_STRETCHES) > last);
    assertTrue(of("two", 1) < last);
  }
}
