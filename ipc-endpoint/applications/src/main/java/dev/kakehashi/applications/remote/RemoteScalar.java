package dev.kakehashi.applications.remote;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.applications.link.NumberBatch;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A scalar function in a process. Numbers lie in the lane as they are; other values go as messages.
final class RemoteScalar implements ScalarCode {
  private static final int INT8 = 20;
  private static final int FLOAT8 = 701;

  private final RemoteApplication application;
  private final FunctionSignature signature;
  private final int index;
  private final Form form;
  private final MessageWriter request = new MessageWriter();
  private final MessageReader reply = new MessageReader();

  RemoteScalar(RemoteApplication application, FunctionSignature signature, int index) {
    this.application = application;
    this.signature = signature;
    this.index = index;
    this.form = form(signature);
  }

  private static Form form(FunctionSignature signature) {
    List<Integer> types =
        Stream.concat(signature.parameters().stream(), signature.result().stream())
            .map(Field::typeOid)
            .distinct()
            .toList();
    // A result of a primitive type is never null.
    boolean plain =
        signature.strict()
            && types.size() == 1
            && !signature.parameters().isEmpty()
            && signature.parameters().size() <= NumberBatch.MOST_PARAMETERS
            && signature.result().stream().noneMatch(Field::nullable);
    if (!plain) {
      return Form.OBJECTS;
    }
    return switch (types.getFirst()) {
      case INT8 -> Form.LONGS;
      case FLOAT8 -> Form.DOUBLES;
      default -> Form.OBJECTS;
    };
  }

  @Override
  public Form form() {
    return form;
  }

  /// One exchange by a lane.
  private interface Exchange {
    void run(RemoteApplication.Attached attached);
  }

  /// A function is called once more when its process has ended meanwhile, unless it is volatile.
  private void exchange(Exchange exchange) {
    boolean again = signature.volatility() != Volatility.VOLATILE;
    while (true) {
      RemoteApplication.Attached attached = application.attach();
      try (attached) {
        exchange.run(attached);
        return;
      } catch (LinkLane.ShutException e) {
        if (!again) {
          throw attached.process().gone();
        }
        again = false;
      }
    }
  }

  @Override
  public void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count) {
    exchange(attached -> {
      request.begin(LinkKind.SCALAR).putInt(index).putInt(count).putInt(arguments.length);
      for (@Nullable Object[] argument : arguments) {
        for (int row = 0; row < count; row++) {
          request.putValue(argument[row]);
        }
      }
      attached.lane().send(request);
      application.reply(attached, reply, signature.name());
      for (int row = 0; row < count; row++) {
        results[row] = reply.getValue();
      }
    });
  }

  @Override
  public void callLongs(long[][] arguments, long[] results, int count) {
    int step = NumberBatch.rows(arguments.length);
    for (int from = 0; from < count; from += step) {
      int first = from;
      int rows = Math.min(step, count - from);
      exchange(attached -> {
        MemorySegment data = attached.lane().data();
        for (int i = 0; i < arguments.length; i++) {
          MemorySegment.copy(
              arguments[i], first, data, JAVA_LONG, NumberBatch.argument(i, rows), rows);
        }
        numbers(attached, LinkKind.LONGS, arguments.length, rows);
        MemorySegment.copy(data, JAVA_LONG, NumberBatch.VALUES, results, first, rows);
      });
    }
  }

  @Override
  public void callDoubles(double[][] arguments, double[] results, int count) {
    int step = NumberBatch.rows(arguments.length);
    for (int from = 0; from < count; from += step) {
      int first = from;
      int rows = Math.min(step, count - from);
      exchange(attached -> {
        MemorySegment data = attached.lane().data();
        for (int i = 0; i < arguments.length; i++) {
          MemorySegment.copy(
              arguments[i], first, data, JAVA_DOUBLE, NumberBatch.argument(i, rows), rows);
        }
        numbers(attached, LinkKind.DOUBLES, arguments.length, rows);
        MemorySegment.copy(data, JAVA_DOUBLE, NumberBatch.VALUES, results, first, rows);
      });
    }
  }

  private void numbers(RemoteApplication.Attached attached, byte kind, int parameters, int rows) {
    LinkLane lane = attached.lane();
    MemorySegment data = lane.data();
    data.set(JAVA_BYTE, 0, kind);
    data.set(JAVA_INT, NumberBatch.INDEX, index);
    data.set(JAVA_INT, NumberBatch.ROWS, rows);
    data.set(JAVA_INT, NumberBatch.PARAMETERS, parameters);
    lane.hand(NumberBatch.bytes(parameters, rows));
    try {
      lane.await(
          TimeUnit.MILLISECONDS.toNanos(application.definition().options().functionTimeMillis()));
    } catch (LinkLane.LateException e) {
      throw application.tooLong(attached, signature.name());
    }
    if (data.get(JAVA_BYTE, 0) != LinkKind.DONE) {
      // It is the first piece of a message, and this side has the turn.
      application.reply(attached, reply, signature.name());
      throw MessageReader.malformed("is no result of a function");
    }
  }
}
