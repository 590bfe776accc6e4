package dev.kakehashi.applications.call;

import dev.kakehashi.applications.define.ProcedureMember;
import dev.kakehashi.applications.type.ResultShape;
import dev.kakehashi.applications.watch.MemberCounts;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Iterator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Calls of procedures and routes. Stateless.
@SuppressWarnings("NullAway") // results of users' code may be null: the type parameter is theirs
public final class ProcedureCalls {
  private ProcedureCalls() {}

  /// Starts a call, or lets it wait for its turn.
  ///
  /// @param label as `procedure place`
  /// @throws EngineException TOO_MANY_SESSIONS, ACTIVE_TRANSACTION
  public static UserCall start(
      CallEnvironment environment,
      ProcedureMember member,
      String label,
      MemberCounts counts,
      LoadedApplication.Invocation invocation,
      LoadedApplication.Listener listener) {
    ProcedureSignature signature = member.signature();
    DirectAccess access = invocation.access();
    if (access != null && signature.transaction() == CallTransaction.OWN) {
      throw new EngineException(
              ErrorCode.ACTIVE_TRANSACTION,
              label + " has a transaction of its own, and cannot run inside a transaction block")
          .withHint(
              "Call it over HTTP or by the Java client, outside of one. PostgreSQL always has one.");
    }
    HereCalls here = environment.here().get();
    UserCall run =
        new UserCall(
            environment,
            label,
            invocation.user(),
            counts,
            timeMillis(environment.options().get(), signature, invocation),
            signature.processorBound(),
            signature.processorBound() || !counts.areShort() || !here.mayRun() ? null : here,
            listener,
            call -> run(call, member, invocation, listener));
    run.submit();
    return run;
  }

  private static long timeMillis(
      ApplicationOptions options,
      ProcedureSignature signature,
      LoadedApplication.Invocation invocation) {
    long limit =
        signature.timeLimitMillis() > 0 ? signature.timeLimitMillis() : options.timeLimitMillis();
    return invocation.timeLimitMillis() > 0 ? Math.min(limit, invocation.timeLimitMillis()) : limit;
  }

  private static void run(
      UserCall run,
      ProcedureMember member,
      LoadedApplication.Invocation invocation,
      LoadedApplication.Listener listener)
      throws Throwable {
    ProcedureSignature signature = member.signature();
    DirectAccess access = invocation.access();
    boolean isOwn = access == null && signature.transaction() != CallTransaction.NONE;
    RowSink sink = new RowSink(run.limits, listener, isOwn);
    if (!isOwn) {
      LiveCall call =
          new LiveCall(run, signature.transaction() == CallTransaction.NONE ? null : access);
      run.as(
          call,
          () -> {
            body(member, call, invocation.arguments(), sink);
            return null;
          });
      return;
    }
    new PlatformTransactions(run, signature.isolation(), signature.retries())
        .run(
            call -> {
              sink.clear();
              body(member, call, invocation.arguments(), sink);
              return null;
            },
            true);
    sink.flush();
  }

  private static void body(
      ProcedureMember member, LiveCall call, @Nullable Object[] arguments, RowSink sink)
      throws Exception {
    try {
      Object argument = member.argument().make(arguments);
      Object result = member.body().run(call, argument);
      if (member.isStream()) {
        try (Stream<?> rows = (Stream<?>) result) {
          if (rows != null) {
            for (Iterator<?> each = rows.iterator(); each.hasNext(); ) {
              sink.add(member.result().row(each.next()));
            }
          }
        }
      } else if (!(member.result() instanceof ResultShape.Nothing)) {
        sink.add(member.result().row(result));
      }
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException(t);
    }
  }
}
