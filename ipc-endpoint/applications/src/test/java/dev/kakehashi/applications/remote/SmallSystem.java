package dev.kakehashi.applications.remote;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// A system whose one application is written here, without jars: it runs in the process of a test.
final class SmallSystem implements ApplicationSystem, LoadedApplication {
  static final int INT8 = 20;
  static final int TEXT = 25;
  static final int NEXT = 0;
  static final int JOINED = 1;
  static final int EXIT = 2;
  static final int ENDLESS = 3;
  static final int NUMBERS = 4;
  static final int LONGEST = 5;
  static final int EAT = 6;
  static final int MOVE = 0;
  static final int SPIN = 1;
  static final int COUNT = 2;
  static final int OTHERS = 3;

  static final ApplicationContents CONTENTS =
      new ApplicationContents(
          List.of(
              scalar("next", INT8, Volatility.IMMUTABLE),
              scalar("joined", TEXT, Volatility.IMMUTABLE),
              scalar("exit", INT8, Volatility.VOLATILE),
              scalar("endless", INT8, Volatility.VOLATILE),
              function("numbers", FunctionKind.TABLE, INT8, Volatility.IMMUTABLE, true),
              function("longest", FunctionKind.AGGREGATE, TEXT, Volatility.IMMUTABLE, true),
              scalar("eat", INT8, Volatility.VOLATILE)),
          List.of(procedure("move"), procedure("spin"), procedure("count"), procedure("others")),
          List.of(),
          List.of(),
          List.of());

  private @Nullable ApplicationHost host;

  private static FunctionSignature scalar(String name, int type, Volatility volatility) {
    return function(name, FunctionKind.SCALAR, type, volatility, type == TEXT);
  }

  private static FunctionSignature function(
      String name, FunctionKind kind, int type, Volatility volatility, boolean nullable) {
    return new FunctionSignature(
        name,
        kind,
        List.of(new Field("a", type, nullable)),
        List.of(new Field("b", type, nullable)),
        volatility,
        true,
        100,
        10);
  }

  private static ProcedureSignature procedure(String name) {
    return new ProcedureSignature(
        name,
        List.of(new Field("a", INT8, false)),
        List.of(new Field("b", INT8, true)),
        CallTransaction.REQUIRED,
        "",
        0,
        0,
        false);
  }

  @Override
  public void start(ApplicationHost started, List<ApplicationDefinition> committed) {
    host = started;
  }

  @Override
  public ApplicationContents inspect(
      String application, List<JarContent> jars, CodeIsolation isolation) {
    if (jars.isEmpty()) {
      throw new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, "no jar");
    }
    return CONTENTS;
  }

  @Override
  public LoadedApplication load(ApplicationDefinition definition) {
    return this;
  }

  @Override
  public void define(List<ApplicationDefinition> committed) {}

  @Override
  public Map<String, String> disabled() {
    return Map.of();
  }

  @Override
  public List<ApplicationFailure> failures() {
    return List.of();
  }

  @Override
  public List<LogLine> log() {
    return List.of();
  }

  @Override
  public List<CallState> calls() {
    return List.of(new CallState("a", 1, "next", 0, 7, 1, 100));
  }

  @Override
  public int loadersAlive() {
    return 0;
  }

  @Override
  public void close() {}

  @Override
  public ApplicationContents contents() {
    return CONTENTS;
  }

  @Override
  public Use use() {
    return new Use() {
      @Override
      public ScalarCode scalar(int index) {
        return new Code(index);
      }

      @Override
      public TableCode table(int index) {
        return arguments -> rows((Long) Objects.requireNonNull(arguments[0]));
      }

      @Override
      public AggregateCode aggregate(int index) {
        return new Longest();
      }

      @Override
      public void close() {}
    };
  }

  private static Iterator<@Nullable Object[]> rows(long count) {
    return LongStream.range(0, count).mapToObj(i -> new @Nullable Object[] {i}).iterator();
  }

  private record Code(int index) implements ScalarCode {
    @Override
    public Form form() {
      return index == JOINED ? Form.OBJECTS : Form.LONGS;
    }

    @Override
    public void call(@Nullable Object[][] arguments, @Nullable Object[] results, int count) {
      for (int i = 0; i < count; i++) {
        results[i] = "<" + arguments[0][i] + ">";
      }
    }

    @Override
    public void callLongs(long[][] arguments, long[] results, int count) {
      if (index == EXIT) {
        Runtime.getRuntime().halt(9);
      }
      if (index == EAT) {
        List<long[]> eaten = new ArrayList<>();
        while (eaten.size() < 1_000_000) {
          eaten.add(new long[1 << 20]);
        }
      }
      for (long i = 0; index == ENDLESS; i++) {
        results[0] += i;
      }
      for (int i = 0; i < count; i++) {
        results[i] = arguments[0][i] + 1;
      }
    }

    @Override
    public void callDoubles(double[][] arguments, double[] results, int count) {
      throw new EngineException(ErrorCode.INTERNAL_ERROR, "no function has doubles");
    }
  }

  private static final class Longest implements AggregateCode {
    @Override
    public Object begin() {
      return "";
    }

    @Override
    public Object add(Object state, @Nullable Object[][] arguments, int count) {
      Object longest = state;
      for (int i = 0; i < count; i++) {
        longest = merge(longest, Objects.requireNonNull(arguments[0][i]));
      }
      return longest;
    }

    @Override
    public Object merge(Object state, Object other) {
      return ((String) state).length() >= ((String) other).length() ? state : other;
    }

    @Override
    public @Nullable Object result(Object state) {
      return state;
    }
  }

  @Override
  public Running procedure(int index, Invocation invocation, Listener listener) {
    Thread thread = Thread.ofVirtual().start(() -> run(index, invocation, listener));
    return () -> {
      listener.failed(new EngineException(ErrorCode.QUERY_CANCELED, "canceled in the process"));
      thread.interrupt();
    };
  }

  private void run(int index, Invocation invocation, Listener listener) {
    try {
      long argument = (Long) Objects.requireNonNull(invocation.arguments()[0]);
      switch (index) {
        case MOVE -> {
          DirectAccess access = Objects.requireNonNull(invocation.access());
          DirectTable table = access.table("t");
          @Nullable Object[] row = table.find(new Object[] {argument}, false);
          if (row == null) {
            throw new EngineException(ErrorCode.RAISE_EXCEPTION, "no row")
                .withSqlstate("AB123")
                .withDetail("of " + argument);
          }
          table.insert(new @Nullable Object[] {argument + 100, row[1]});
          try (DirectTable.Rows all = table.all()) {
            for (@Nullable Object[] one = all.next(); one != null; one = all.next()) {
              listener.row(new @Nullable Object[] {one[0]});
            }
          }
        }
        case SPIN -> {
          for (long i = 0; argument != 0; i++) {
            argument += i | 1;
          }
        }
        case COUNT -> {
          for (long i = 0; i < argument; i++) {
            listener.row(new @Nullable Object[] {i});
          }
        }
        default ->
            Objects.requireNonNull(host)
                .begin(argument == 0 ? "caller" : "other", "SERIALIZABLE")
                .commit();
      }
      listener.done();
    } catch (EngineException e) {
      listener.failed(e);
    }
  }

  @Override
  public Running route(int index, Invocation invocation, Listener listener) {
    return procedure(index, invocation, listener);
  }

  @Override
  public void retire(long drainMillis) {}
}
