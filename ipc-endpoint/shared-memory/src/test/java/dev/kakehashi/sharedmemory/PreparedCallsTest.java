package dev.kakehashi.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.sharedmemory.PreparedCalls.PreparedCall;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Calls that a session keeps. Its client chooses their names, and how many there are.
class PreparedCallsTest {
  private static final int MOST_CALLS = 256;

  private final PreparedCalls calls = new PreparedCalls();

  /// A frame that has a name behind other bytes.
  private static UnsafeBuffer frame(String name) {
    return new UnsafeBuffer(("head" + name + "tail").getBytes(StandardCharsets.UTF_8));
  }

  private @Nullable PreparedCall find(String name) {
    return calls.find(frame(name), 4, name.length());
  }

  private PreparedCall add(String name, Statement.Column... columns) {
    return calls.add(
        frame(name), 4, name.length(), new NamedStatement("CALL " + name, List.of(columns)));
  }

  private static Statement.Column column(String name, int typeOid, int typeModifier) {
    return new Statement.Column(name, typeOid, typeModifier);
  }

  @Test
  void shouldFindACallByItsBytesWhereverTheyLie() {
    PreparedCall added = add("pay");
    byte[] elsewhere = "ppay".getBytes(StandardCharsets.UTF_8);
    assertSame(added, calls.find(new UnsafeBuffer(elsewhere), 1, 3));
    assertNull(calls.find(new UnsafeBuffer(elsewhere), 0, 3));
    assertNull(find("pa"));
    assertNull(find("payment"));
    assertNull(find("Pay"));
  }

  /// Strings with the same hash code: a map by hash alone would run another procedure.
  @Test
  void shouldTellNamesOfOneHashCodeApart() {
    PreparedCall first = add("AaAa");
    PreparedCall second = add("BBBB");
    assertSame(first, find("AaAa"));
    assertSame(second, find("BBBB"));
    assertNull(find("AaBB"));
  }

  /// The memory of a frame is that of the next frame.
  @Test
  void shouldKeepTheNameWhenItsFrameIsOverwritten() {
    UnsafeBuffer frame = frame("pay");
    PreparedCall added = calls.add(frame, 4, 3, new NamedStatement("CALL pay()", List.of()));
    frame.setMemory(0, frame.capacity(), (byte) 'x');
    assertSame(added, find("pay"));
    assertNull(find("xxx"));
  }

  @Test
  void shouldForgetTheCallThatWasNotUsedForLongest() {
    for (int i = 0; i < MOST_CALLS; i++) {
      add("p" + i);
    }
    assertNotNull(find("p0"));
    add("one more");
    assertNotNull(find("p0"), "it was used last");
    assertNull(find("p1"));
    assertNotNull(find("p2"));
    assertNotNull(find("one more"));
  }

  @Test
  void shouldPrepareACallAgainWhoseColumnsAreOthers() {
    PreparedCall call = add("pay");
    InvokeResponse response = new InvokeResponse(SlotResponse.NONE, call);
    fail(response, ErrorCode.FEATURE_NOT_SUPPORTED, "no such option");
    fail(response, ErrorCode.UNIQUE_VIOLATION, Statement.OTHER_COLUMNS);
    assertSame(call, find("pay"), "other failures are the caller's");
    fail(response, ErrorCode.FEATURE_NOT_SUPPORTED, Statement.OTHER_COLUMNS);
    assertNull(find("pay"));
    PreparedCall again = add("pay");
    assertSame(again, find("pay"));
  }

  private static void fail(InvokeResponse response, ErrorCode code, String message) {
    response.failed(TransactionState.NONE, 0, 0, new EngineException(code, message));
  }

  /// The shape stands for the columns that a client knows; 0 stands for none.
  @Test
  void shouldGiveOtherColumnsAnotherShape() {
    int shape = add("a", column("id", TypeOid.INT8, -1), column("t", TypeOid.TEXT, -1)).shape();
    assertEquals(
        shape, add("b", column("id", TypeOid.INT8, -1), column("t", TypeOid.TEXT, -1)).shape());
    for (PreparedCall other :
        List.of(
            add("c", column("t", TypeOid.TEXT, -1), column("id", TypeOid.INT8, -1)),
            add("d", column("id", TypeOid.INT4, -1), column("t", TypeOid.TEXT, -1)),
            add("e", column("id", TypeOid.INT8, 20), column("t", TypeOid.TEXT, -1)),
            add("f", column("idt", TypeOid.INT8, -1), column("", TypeOid.TEXT, -1)),
            add("g", column("id", TypeOid.INT8, -1)),
            add("h"))) {
      assertNotEquals(shape, other.shape(), other.statement().sql());
      assertNotEquals(0, other.shape(), other.statement().sql());
    }
  }
}
