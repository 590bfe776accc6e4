package dev.kakehashi.applications.child;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.applications.link.NumberBatch;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Serves one lane of calls, on a thread of its own that ends with the process.
final class LaneServer implements Runnable {
  private final LinkLane lane;
  private final LoadedApplication application;
  private final LoadedApplication.Use use;
  private final UseStates states;
  private final RemoteHost host;
  private final Map<Integer, ScalarCode> scalars = new HashMap<>();
  private final MessageReader request = new MessageReader();
  private final MessageWriter reply = new MessageWriter();
  private long[][] longs = new long[0][];
  private double[][] doubles = new double[0][];
  private long[] longResults = new long[0];
  private double[] doubleResults = new double[0];

  private volatile @Nullable ProcedureCall call;

  LaneServer(
      LinkLane lane,
      LoadedApplication application,
      LoadedApplication.Use use,
      UseStates states,
      RemoteHost host) {
    this.lane = lane;
    this.application = application;
    this.use = use;
    this.states = states;
    this.host = host;
  }

  @Override
  public void run() {
    while (true) {
      lane.await(-1);
      // Numbers are taken where they lie.
      byte kind = lane.data().get(JAVA_BYTE, 0);
      try {
        switch (kind) {
          case LinkKind.LONGS -> longs();
          case LinkKind.DOUBLES -> doubles();
          default -> message();
        }
      } catch (EngineException e) {
        lane.send(reply.begin(LinkKind.FAILED).putFailure(e));
      } catch (LinkLane.ShutException e) {
        return;
      } catch (RuntimeException | StackOverflowError | LinkageError e) {
        e.printStackTrace();
        lane.send(
            reply
                .begin(LinkKind.FAILED)
                .putFailure(new EngineException(ErrorCode.INTERNAL_ERROR, String.valueOf(e))));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /// Cancels a call, if it runs here.
  void cancel(long number) {
    ProcedureCall running = call;
    if (running != null && running.number() == number) {
      running.cancel();
    }
  }

  private ScalarCode scalar(int index) {
    return scalars.computeIfAbsent(index, use::scalar);
  }

  private void longs() {
    MemorySegment data = lane.data();
    int rows = data.get(JAVA_INT, NumberBatch.ROWS);
    int parameters = data.get(JAVA_INT, NumberBatch.PARAMETERS);
    if (longResults.length < rows || longs.length != parameters) {
      longResults = new long[rows];
      longs = new long[parameters][rows];
    }
    for (int i = 0; i < parameters; i++) {
      MemorySegment.copy(data, JAVA_LONG, NumberBatch.argument(i, rows), longs[i], 0, rows);
    }
    ScalarCode code = scalar(data.get(JAVA_INT, NumberBatch.INDEX));
    if (code.form() == ScalarCode.Form.LONGS) {
      code.callLongs(longs, longResults, rows);
    } else {
      boxed(
          code,
          rows,
          parameters,
          (parameter, row) -> longs[parameter][row],
          (row, value) -> longResults[row] = (Long) value);
    }
    MemorySegment.copy(longResults, 0, data, JAVA_LONG, NumberBatch.VALUES, rows);
    data.set(JAVA_BYTE, 0, LinkKind.DONE);
    lane.hand(NumberBatch.bytes(1, rows));
  }

  private void doubles() {
    MemorySegment data = lane.data();
    int rows = data.get(JAVA_INT, NumberBatch.ROWS);
    int parameters = data.get(JAVA_INT, NumberBatch.PARAMETERS);
    if (doubleResults.length < rows || doubles.length != parameters) {
      doubleResults = new double[rows];
      doubles = new double[parameters][rows];
    }
    for (int i = 0; i < parameters; i++) {
      MemorySegment.copy(data, JAVA_DOUBLE, NumberBatch.argument(i, rows), doubles[i], 0, rows);
    }
    ScalarCode code = scalar(data.get(JAVA_INT, NumberBatch.INDEX));
    if (code.form() == ScalarCode.Form.DOUBLES) {
      code.callDoubles(doubles, doubleResults, rows);
    } else {
      boxed(
          code,
          rows,
          parameters,
          (parameter, row) -> doubles[parameter][row],
          (row, value) -> doubleResults[row] = (Double) value);
    }
    MemorySegment.copy(doubleResults, 0, data, JAVA_DOUBLE, NumberBatch.VALUES, rows);
    data.set(JAVA_BYTE, 0, LinkKind.DONE);
    lane.hand(NumberBatch.bytes(1, rows));
  }

  @FunctionalInterface
  private interface Argument {
    Object at(int parameter, int row);
  }

  @FunctionalInterface
  private interface Taken {
    void take(int row, Object value);
  }

  /// A function whose parameters are objects of those types.
  private static void boxed(
      ScalarCode code, int rows, int parameters, Argument argument, Taken taken) {
    @Nullable Object[][] arguments = new Object[parameters][rows];
    for (int i = 0; i < parameters; i++) {
      for (int row = 0; row < rows; row++) {
        arguments[i][row] = argument.at(i, row);
      }
    }
    @Nullable Object[] results = new Object[rows];
    code.call(arguments, results, rows);
    for (int row = 0; row < rows; row++) {
      Object value = results[row];
      if (value == null) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED, "a function whose result is never null gave null");
      }
      taken.take(row, value);
    }
  }

  private void message() throws InterruptedException {
    lane.receive(request, HostLane.MOST_MESSAGE, -1);
    byte kind = request.get();
    switch (kind) {
      case LinkKind.CALL -> {
        ProcedureCall begun = new ProcedureCall(application, lane, host, request);
        call = begun;
        try {
          begun.run();
        } finally {
          call = null;
        }
      }
      case LinkKind.SCALAR -> {
        objects();
        lane.send(reply);
      }
      default -> {
        states.serve(kind, request, reply.begin(LinkKind.DONE));
        lane.send(reply);
      }
    }
  }

  private void objects() {
    int index = request.getInt();
    int rows = request.getInt();
    int parameters = request.getInt();
    @Nullable Object[][] arguments = new Object[parameters][rows];
    for (@Nullable Object[] argument : arguments) {
      for (int row = 0; row < rows; row++) {
        argument[row] = request.getValue();
      }
    }
    @Nullable Object[] results = new Object[rows];
    scalar(index).call(arguments, results, rows);
    reply.begin(LinkKind.DONE);
    for (Object result : results) {
      reply.putValue(result);
    }
  }
}
