package dev.kakehashi.engine.embedded.older;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Makes a data directory with the version of the engine that is in the class path, by a script, and writes down what queries find in it.
/// `.make/older-directory.sh` runs it with the classes of an older commit. So it knows the engine by the names of its tests alone.
///
/// Statements of the script end with `;` at the end of a line. Lines that begin with `--@` say what is done with those that follow:
///
/// | line | the statements that follow |
/// |---|---|
/// | `--@ from N` | are for formats from N on; 1: for all |
/// | `--@ restart` | run after a restart of the engine |
/// | `--@ prepare NAME` | are a transaction, which is prepared at the next line of this kind |
/// | `--@ queries` | are queries whose rows are written down |
///
/// The process ends without closing the engine. The preparation is the last that is written, and durable when it is reported: so all before
/// it is durable, too, and the log has what no checkpoint has.
final class DirectoryMaker {
  private static final String[] ENGINES = {
    "dev.kakehashi.engine.embedded.TestEngine", "dev.kakehashi.engine.TestEngine"
  };
  private static final String QUEUES = "dev.kakehashi.queue.DurableQueues";
  private static final Object[] NO_PARAMETERS = {};

  private final Path directory;
  private final int format;
  private final List<String> found = new ArrayList<>();
  private Object engine;
  private @Nullable Object transaction;
  private String globalId = "";

  private DirectoryMaker(Path directory, int format) throws ReflectiveOperationException {
    this.directory = directory;
    this.format = format;
    this.engine = open();
  }

  /// @param arguments directory to be made, script, its format, file for what the queries find
  public static void main(String[] arguments) throws Exception {
    DirectoryMaker maker =
        new DirectoryMaker(Path.of(arguments[0]), Integer.parseInt(arguments[2]));
    maker.run(Files.readAllLines(Path.of(arguments[1]), StandardCharsets.UTF_8));
    Files.write(Path.of(arguments[3]), maker.found, StandardCharsets.UTF_8);
    Runtime.getRuntime().halt(0);
  }

  private void run(List<String> lines) throws ReflectiveOperationException {
    boolean applies = true;
    boolean queries = false;
    StringBuilder statement = new StringBuilder();
    for (String line : lines) {
      if (line.startsWith("--@ ")) {
        String[] words = line.substring(4).split(" ", 2);
        endTransaction();
        queries = words[0].equals("queries");
        switch (words[0]) {
          case "from" -> applies = format >= Integer.parseInt(words[1]);
          case "restart" -> {
            invoke(engine, "close");
            engine = open();
          }
          case "prepare" -> {
            transaction = begin();
            globalId = words[1];
          }
          case "queries" -> {}
          default -> throw new IllegalArgumentException(line);
        }
      } else if (!line.startsWith("--") && !line.isBlank()) {
        statement.append(statement.isEmpty() ? "" : "\n").append(line);
        if (line.endsWith(";")) {
          String sql = statement.substring(0, statement.length() - 1);
          statement.setLength(0);
          if (applies) {
            execute(sql, queries);
          }
        }
      }
    }
    endTransaction();
  }

  private void execute(String sql, boolean isQuery) throws ReflectiveOperationException {
    Object open = transaction;
    if (open != null) {
      invoke(engine, "run", open, sql, NO_PARAMETERS);
    } else if (isQuery) {
      found.add("> " + sql);
      for (Object row : (List<?>) invoke(engine, "query", sql, NO_PARAMETERS)) {
        found.add(row.toString());
      }
    } else {
      invoke(engine, "run", sql, NO_PARAMETERS);
    }
  }

  // ---- the engine of the class path ----

  private Object open() throws ReflectiveOperationException {
    Class<?> type = find(ENGINES);
    Class<?> queues = find(QUEUES);
    if (type == null) {
      throw new ClassNotFoundException(String.join(" or ", ENGINES));
    }
    if (queues != null && format >= 5) {
      Method opener = queues.getDeclaredMethod("opener");
      Method with = method(type, "withQueues", directory, opener.invoke(null));
      return call(with, null, directory, opener.invoke(null));
    }
    Constructor<?> plain = type.getDeclaredConstructor(Path.class);
    plain.setAccessible(true);
    return plain.newInstance(directory);
  }

  private Object begin() throws ReflectiveOperationException {
    for (Method each : engine.getClass().getDeclaredMethods()) {
      Class<?>[] types = each.getParameterTypes();
      if (each.getName().equals("begin") && types.length == 1 && types[0].isEnum()) {
        for (Object isolation : types[0].getEnumConstants()) {
          if (isolation.toString().equals("READ_COMMITTED")) {
            return call(each, engine, isolation);
          }
        }
      }
    }
    throw new NoSuchMethodException("begin");
  }

  private void endTransaction() throws ReflectiveOperationException {
    Object open = transaction;
    if (open == null) {
      return;
    }
    transaction = null;
    Field field = engine.getClass().getDeclaredField("session");
    field.setAccessible(true);
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    Consumer<@Nullable Throwable> prepared =
        failure -> {
          if (failure == null) {
            done.complete(true);
          } else {
            done.completeExceptionally(failure);
          }
        };
    invoke(field.get(engine), "prepare", open, globalId, prepared);
    done.orTimeout(60, TimeUnit.SECONDS).join();
  }

  private static @Nullable Class<?> find(String... names) throws ClassNotFoundException {
    for (String name : names) {
      if (ClassLoader.getSystemResource(name.replace('.', '/') + ".class") != null) {
        return Class.forName(name);
      }
    }
    return null;
  }

  private static Object invoke(Object of, String name, Object... arguments)
      throws ReflectiveOperationException {
    return call(method(of.getClass(), name, arguments), of, arguments);
  }

  private static Method method(Class<?> type, String name, Object... arguments)
      throws NoSuchMethodException {
    for (Class<?> at = type; at != null; at = at.getSuperclass()) {
      for (Method each : at.getDeclaredMethods()) {
        if (each.getName().equals(name) && takes(each.getParameterTypes(), arguments)) {
          return each;
        }
      }
    }
    throw new NoSuchMethodException(type + "." + name);
  }

  private static boolean takes(Class<?>[] types, Object[] arguments) {
    boolean all = types.length == arguments.length;
    for (int i = 0; all && i < types.length; i++) {
      all = types[i].isInstance(arguments[i]);
    }
    return all;
  }

  private static Object call(Method method, @Nullable Object of, Object... arguments)
      throws ReflectiveOperationException {
    method.setAccessible(true);
    try {
      Object result = method.invoke(of, arguments);
      return result == null ? List.of() : result;
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(List.of(arguments).toString(), e.getCause());
    }
  }
}
