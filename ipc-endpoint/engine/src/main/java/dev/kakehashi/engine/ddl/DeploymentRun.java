package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.catalog.LocationUser;
import dev.kakehashi.engine.exec.operator.ParameterTable;
import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.sql.parser.ApplicationStatement;
import dev.kakehashi.engine.sql.parser.ApplicationStatement.JarSource;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// First part of CREATE APPLICATION and ALTER APPLICATION ... FROM: it reads the jars and lets the application system look at them, on a
/// thread that may block and run users' code; then comes the change of the catalogue. The statement waits as a condition, and a cancel ends
/// the wait.
public final class DeploymentRun implements Task {
  private final ApplicationStatement.Deploying statement;
  private final StatementExecution execution;
  private final ParameterBatch parameters;
  private final Definer definer;
  private final Surroundings surroundings;
  private final BiConsumer<@Nullable Long, @Nullable EngineException> done;
  private final Function<@Nullable Deployment, Task> next;

  /// Since the look has begun; null: it has not.
  private @Nullable Condition looked;

  private volatile @Nullable Deployment found;
  private volatile @Nullable EngineException refused;

  /// Surroundings that a deployment needs.
  ///
  /// @param system looks at jars; null: there is none
  /// @param files reads them
  /// @param blocking runs what blocks
  public record Surroundings(
      @Nullable ApplicationSystem system,
      BulkAccess files,
      Executor blocking,
      TaskScheduler scheduler) {}

  /// @param parameters of the statement, valid until it ends
  /// @param next makes the task that changes the catalogue; of null if the application is there already
  DeploymentRun(
      ApplicationStatement.Deploying statement,
      StatementExecution execution,
      ParameterBatch parameters,
      Definer definer,
      Surroundings surroundings,
      BiConsumer<@Nullable Long, @Nullable EngineException> done,
      Function<@Nullable Deployment, Task> next) {
    this.statement = statement;
    this.execution = execution;
    this.parameters = parameters;
    this.definer = definer;
    this.surroundings = surroundings;
    this.done = done;
    this.next = next;
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      execution.checkCanceled();
      Condition begun = looked;
      if (begun == null) {
        execution.checkWritable(statement.command());
        CatalogSnapshot catalog = execution.catalog();
        ApplicationPlanner.mayDeploy(statement, catalog, definer);
        if (ApplicationPlanner.isThere(statement, catalog)) {
          return next.apply(null);
        }
        begun = surroundings.scheduler().condition();
        looked = begun;
        begin(catalog, begun);
        execution.onCancel(begun::signal);
      }
      EngineException failed = refused;
      if (failed != null) {
        throw failed;
      }
      Deployment deployment = found;
      return deployment == null ? context.await(begun, this) : next.apply(deployment);
    } catch (Throwable failed) {
      done.accept(null, RunFailures.report(failed));
    } finally {
      Interrupts.leave(before);
    }
    return null;
  }

  /// Takes what belongs to the statement, and begins what blocks.
  private void begin(CatalogSnapshot catalog, Condition ended) {
    ApplicationSystem system = surroundings.system();
    if (system == null) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "this engine runs no applications");
    }
    List<JarSource> sources = statement.jars();
    if (sources.size() > Deployment.MOST_JARS) {
      throw tooMuch("an application may have at most " + Deployment.MOST_JARS + " jars");
    }
    List<@Nullable JarContent> given = new ArrayList<>();
    for (int i = 0; i < sources.size(); i++) {
      given.add(given(sources.get(i), i + 1));
    }
    CodeIsolation isolation = isolation(catalog);
    LocationUser user =
        new LocationUser(catalog.roles().name(definer.role()), catalog, definer.role());
    Runnable look =
        () -> {
          try {
            List<JarContent> jars = jars(given, user);
            ApplicationContents contents = system.inspect(statement.name().name(), jars, isolation);
            found = new Deployment(jars, isolation, contents);
          } catch (Throwable failed) {
            refused = RunFailures.report(failed);
          } finally {
            ended.signal();
          }
        };
    try {
      surroundings.blocking().execute(look);
    } catch (RejectedExecutionException closed) {
      throw new EngineException(
          ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down", closed);
    }
  }

  /// A jar of the statement itself; null: it lies in a location.
  private @Nullable JarContent given(JarSource source, int number) {
    byte[] bytes;
    String name;
    switch (source) {
      case JarSource.Location location -> {
        return null;
      }
      case JarSource.Literal literal -> {
        if (literal.hexadecimal().length() / 2 > Deployment.MOST_BYTES) {
          throw tooLong();
        }
        try {
          bytes = HexFormat.of().parseHex(literal.hexadecimal());
        } catch (IllegalArgumentException none) {
          throw new EngineException(
              ErrorCode.INVALID_TEXT_REPRESENTATION, "invalid hexadecimal data of a jar", none);
        }
        name = literal.name();
      }
      case JarSource.Parameter parameter -> {
        bytes =
            ParameterTable.bytes(
                parameters,
                ApplicationStatement.parameters(statement),
                parameter.number() - 1,
                Deployment.MOST_BYTES);
        name = parameter.name();
      }
    }
    String shown = name == null ? "%s-%d.jar".formatted(statement.name().name(), number) : name;
    requireFit(shown);
    return new JarContent(shown, bytes);
  }

  private static void requireFit(String name) {
    if (!Deployment.isFit(name)) {
      throw new EngineException(
          ErrorCode.INVALID_NAME, "\"" + name + "\" cannot be the name of a jar");
    }
  }

  private CodeIsolation isolation(CatalogSnapshot catalog) {
    DeployedApplication present = ApplicationPlanner.present(statement, catalog);
    CodeIsolation usual =
        present == null ? CodeIsolation.NONE : present.version().definition().isolation();
    return ApplicationOptionReader.isolation(statement.options(), usual);
  }

  private List<JarContent> jars(List<@Nullable JarContent> given, LocationUser user) {
    List<JarContent> jars = new ArrayList<>();
    long left = Deployment.MOST_BYTES;
    for (int i = 0; i < given.size(); i++) {
      JarContent jar = given.get(i);
      if (jar == null) {
        String location = ((JarSource.Location) statement.jars().get(i)).location();
        byte[] bytes = surroundings.files().read(location, user, left);
        String name = location.substring(location.lastIndexOf('/') + 1);
        requireFit(name);
        jar = new JarContent(name, bytes);
      }
      left -= jar.bytes().length;
      if (left < 0) {
        throw tooLong();
      }
      jars.add(jar);
    }
    return List.copyOf(jars);
  }

  private static EngineException tooLong() {
    return tooMuch(
        "the jars of an application may have at most %d MB in all"
            .formatted(Deployment.MOST_BYTES >> 20));
  }

  private static EngineException tooMuch(String message) {
    return new EngineException(ErrorCode.LIMIT_EXCEEDED, message);
  }

  @Override
  public void discarded(Job job) {
    done.accept(
        null,
        new EngineException(
            ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down"));
  }
}
