package dev.kakehashi.tools.application;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.queue.PrintedRows;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `app call`: calls a procedure and prints its rows.
@Command(
    name = "call",
    description = "Calls a procedure and prints its rows.",
    mixinStandardHelpOptions = true)
public final class AppCallCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(index = "0", paramLabel = "PROCEDURE", description = "as SQL writes it")
  private String procedure = "";

  @Parameters(
      index = "1..*",
      paramLabel = "ARGUMENT",
      description = "values as SQL writes them in quotes; NULL without them")
  private List<String> arguments = List.of();

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi app call")) {
      PrintedRows.of(session, sql()).print(System.out);
    }
    return 0;
  }

  String sql() {
    StringBuilder sql = new StringBuilder("CALL ");
    sql.append(ApplicationName.parse(procedure).text()).append('(');
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      sql.append(i == 0 ? "" : ", ");
      sql.append(argument.equals("NULL") ? "NULL" : "'" + argument.replace("'", "''") + "'");
    }
    return sql.append(')').toString();
  }
}
