package dev.kakehashi.tools.replay;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.Protocol;
import dev.kakehashi.protocol.messages.CommitDecoder;
import dev.kakehashi.protocol.messages.CommitEncoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.ExecuteEncoder;
import dev.kakehashi.protocol.messages.MessageHeaderEncoder;
import dev.kakehashi.protocol.messages.PingEncoder;
import dev.kakehashi.protocol.messages.TransactionAction;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// Requests of an archive in transactions of today: one that goes into a wrong transaction would change what another one has written.
class HandlesTest {
  private final Handles handles = new Handles();

  private static byte[] frame(UnsafeBuffer buffer, int bodyBytes) {
    return Arrays.copyOf(buffer.byteArray(), Protocol.MESSAGE_HEADER_BYTES + bodyBytes);
  }

  private static byte[] commit(long handle) {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[256]);
    CommitEncoder commit = new CommitEncoder();
    commit.wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder()).transactionHandle(handle);
    return frame(buffer, commit.encodedLength());
  }

  private static byte[] execute(TransactionAction action, long handle) {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[256]);
    ExecuteEncoder execute = new ExecuteEncoder();
    execute
        .wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder())
        .action(action)
        .transactionHandle(handle);
    return frame(buffer, execute.encodedLength());
  }

  private static long committed(byte[] frame) {
    return Frames.wrap(new CommitDecoder(), new UnsafeBuffer(frame)).transactionHandle();
  }

  private static long executed(byte[] frame) {
    return Frames.wrap(new ExecuteDecoder(), new UnsafeBuffer(frame)).transactionHandle();
  }

  @Test
  void shouldPutTheHandleOfTodayInPlaceOfTheOneOfThen() {
    handles.bind(7, 70);
    handles.bind(8, 80);
    byte[] execute = execute(TransactionAction.CONTINUE, 8);
    assertTrue(handles.translate(execute));
    assertEquals(80, executed(execute));
    byte[] commit = commit(7);
    assertTrue(handles.translate(commit));
    assertEquals(70, committed(commit));
  }

  @Test
  void shouldForgetATransactionThatEnds() {
    handles.bind(7, 70);
    assertTrue(handles.translate(execute(TransactionAction.CONTINUE, 7)));
    assertTrue(handles.translate(commit(7)));
    assertFalse(handles.translate(execute(TransactionAction.CONTINUE, 7)));
    assertFalse(handles.translate(commit(7)));
  }

  /// A handle that begins a transaction is none yet, and 0 is the transaction that the session began last.
  @Test
  void shouldLeaveRequestsThatNameNoTransaction() {
    handles.bind(7, 70);
    handles.bind(0, 90);
    for (byte[] frame :
        new byte[][] {
          execute(TransactionAction.BEGIN, 7), execute(TransactionAction.AUTO_COMMIT, 7), commit(0)
        }) {
      byte[] before = frame.clone();
      assertTrue(handles.translate(frame));
      assertArrayEquals(before, frame);
    }
  }

  @Test
  void shouldRefuseRequestsOfTransactionsThatNobodyHasBegunHere() {
    handles.bind(7, 0);
    byte[] commit = commit(7);
    byte[] before = commit.clone();
    assertFalse(handles.translate(commit));
    assertArrayEquals(before, commit);
  }

  @Test
  void shouldPassRequestsThatHaveNoHandle() {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[256]);
    PingEncoder ping = new PingEncoder();
    ping.wrapAndApplyHeader(buffer, 0, new MessageHeaderEncoder());
    assertTrue(handles.translate(frame(buffer, ping.encodedLength())));
  }
}
