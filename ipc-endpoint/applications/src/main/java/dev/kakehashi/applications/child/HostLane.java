package dev.kakehashi.applications.child;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.concurrent.locks.ReentrantLock;

/// Requests to the engine by a lane. One at a time: who asks while another does waits.
class HostLane {
  static final long MOST_MESSAGE = 1L << 28;

  private final LinkLane lane;
  private final ReentrantLock lock = new ReentrantLock();
  private final MessageWriter request = new MessageWriter();
  private final MessageReader reply = new MessageReader();
  private boolean over;

  HostLane(LinkLane lane) {
    this.lane = lane;
  }

  int number() {
    return lane.number();
  }

  /// Writes the fields of a request.
  @FunctionalInterface
  interface Fields {
    void put(MessageWriter to);
  }

  /// Reads the fields of a reply.
  @FunctionalInterface
  interface Reading<T> {
    T get(MessageReader from);
  }

  void tell(byte kind, Fields fields) {
    boolean unused = ask(kind, fields, reader -> true);
    assert unused;
  }

  /// @throws EngineException what the engine says; QUERY_CANCELED after the end of the call
  <T> T ask(byte kind, Fields fields, Reading<T> reading) {
    return ask(kind, fields, reading, reader -> false);
  }

  /// @param rows takes a message of rows that come before the reply; false: no more are wanted
  <T> T ask(byte kind, Fields fields, Reading<T> reading, Reading<Boolean> rows) {
    lock.lock();
    try {
      checkOpen();
      request.begin(kind);
      fields.put(request);
      lane.send(request);
      while (true) {
        lane.receive(reply, MOST_MESSAGE, -1);
        byte replied = reply.get();
        switch (replied) {
          case LinkKind.DONE -> {
            return reading.get(reply);
          }
          case LinkKind.FAILED -> throw reply.getFailure();
          case LinkKind.ROWS ->
              lane.send(request.begin(rows.get(reply) ? LinkKind.DONE : LinkKind.ENOUGH));
          default -> throw MessageReader.malformed("is of kind " + replied);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void checkOpen() {
    if (over) {
      throw new EngineException(ErrorCode.QUERY_CANCELED, "the call has ended");
    }
  }

  /// Sends the last message of a call; nothing is asked after it.
  ///
  /// @return false: it has ended already
  boolean end(MessageWriter message) {
    lock.lock();
    try {
      if (over) {
        return false;
      }
      over = true;
      lane.send(message);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /// Sends rows of the call's result.
  ///
  /// @return false: the reader wants no more
  boolean give(MessageWriter message) {
    lock.lock();
    try {
      checkOpen();
      lane.send(message);
      lane.receive(reply, MOST_MESSAGE, -1);
      return reply.get() == LinkKind.DONE;
    } finally {
      lock.unlock();
    }
  }
}
