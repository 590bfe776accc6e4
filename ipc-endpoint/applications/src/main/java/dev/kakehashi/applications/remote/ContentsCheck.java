package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import java.util.List;
import java.util.regex.Pattern;

/// Second check of the contents that a process reports: its code may have changed the classes of the first check.
final class ContentsCheck {
  private static final Pattern NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  private static final int MOST = 10_000;

  private ContentsCheck() {}

  static void check(ApplicationContents contents) {
    bounded(contents.functions());
    bounded(contents.procedures());
    bounded(contents.routes());
    bounded(contents.handlers());
    bounded(contents.processes());
    for (FunctionSignature function : contents.functions()) {
      named(function.name());
      fields(function.parameters());
      fields(function.result());
      held(!function.result().isEmpty());
      held(function.cost() > 0 && function.cost() <= 1_000_000 && function.rows() >= 0);
    }
    for (ProcedureSignature procedure : contents.procedures()) {
      named(procedure.name());
      check(procedure);
    }
    for (RouteSignature route : contents.routes()) {
      held(route.path().startsWith("/") && route.path().length() <= 1_000);
      check(route.procedure());
    }
  }

  private static void check(ProcedureSignature procedure) {
    fields(procedure.parameters());
    fields(procedure.result());
    held(procedure.retries() >= 0 && procedure.timeLimitMillis() >= 0);
  }

  private static void fields(List<Field> fields) {
    held(fields.size() <= 1_600);
    for (Field field : fields) {
      if (!field.name().isEmpty()) {
        named(field.name());
      }
      held(field.typeOid() > 0);
    }
  }

  private static void bounded(List<?> list) {
    held(list.size() <= MOST);
  }

  private static void named(String name) {
    held(NAME.matcher(name).matches());
  }

  private static void held(boolean holds) {
    if (!holds) {
      throw MessageReader.malformed("defines what an application cannot define");
    }
  }
}
