package dev.kakehashi.rest.application;

import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.sql.AnswerFormat;
import dev.kakehashi.rest.sql.SqlRequest;
import dev.kakehashi.rest.sql.SqlRoutes;
import java.util.List;

/// A route of a deployed application: its request becomes a CALL, the row of that the answer. Immutable.
final class RouteCall {
  private static final int NO_CONTENT = 204;

  private final RouteSignature signature;
  private final String sql;

  /// The statement by the version that it calls: another one may give something else.
  private final String keptAs;

  private final AnswerFormat format;
  private final SqlRoutes statements;
  private final boolean isAlone;

  RouteCall(ApplicationDefinition application, RouteSignature signature, SqlRoutes statements) {
    this.signature = signature;
    this.statements = statements;
    this.sql = sql(application, signature);
    this.keptAs = application.version().versionId() + " " + sql;
    this.format = RouteAnswer.format(signature);
    this.isAlone = signature.procedure().transaction() != CallTransaction.REQUIRED;
  }

  /// `CALL "public"."shop"."POST /orders"($1::bigint)`.
  private static String sql(ApplicationDefinition application, RouteSignature signature) {
    StringBuilder text =
        new StringBuilder("CALL ")
            .append(quoted(application.schema()))
            .append('.')
            .append(quoted(application.name()))
            .append('.')
            .append(quoted(signature.method() + " " + signature.path()))
            .append('(');
    List<Field> parameters = signature.procedure().parameters();
    for (int i = 0; i < parameters.size(); i++) {
      text.append(i == 0 ? "$" : ", $")
          .append(i + 1)
          .append("::")
          .append(TypeName.of(parameters.get(i).typeOid(), -1));
    }
    return text.append(')').toString();
  }

  private static String quoted(String name) {
    return "\"" + name.replace("\"", "\"\"") + "\"";
  }

  void answer(Exchange exchange, byte[] body) {
    byte[] arguments = RouteArguments.read(exchange.request(), body, signature);
    SqlRequest request =
        SqlRequest.of(sql, arguments, false)
            .keptAs(keptAs)
            .ofCode()
            .withStatus(200, signature.statuses().getOrDefault("Void", NO_CONTENT));
    statements.answer(exchange, body, request, format, isAlone);
  }
}
