package dev.kakehashi.engine.sql.statement;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanEstimates;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Zone;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// SHOW: the value of one setting, or all of them.
public final class Show {
  /// Settings that are the same in every engine, by PostgreSQL's names.
  private static final List<ShownSetting> FIXED =
      List.of(
          new ShownSetting("client_encoding", "UTF8", "Encoding of texts."),
          new ShownSetting("DateStyle", "ISO, MDY", "Form in which dates and times are written."),
          new ShownSetting(
              "default_transaction_isolation",
              "read committed",
              "Isolation level of transactions that do not ask for another."),
          new ShownSetting("integer_datetimes", "on", "Whether times are counted in microseconds."),
          new ShownSetting("IntervalStyle", "postgres", "Form in which intervals are written."),
          new ShownSetting("lc_collate", "C", "Order of texts: by bytes."),
          new ShownSetting("lc_ctype", "C", "Kinds of characters."),
          new ShownSetting("search_path", "public", "Schema of names without one."),
          new ShownSetting("server_encoding", "UTF8", "Encoding of texts."),
          new ShownSetting(
              "standard_conforming_strings", "on", "Backslashes are ordinary characters."));

  static final String TIME_ZONE = "TimeZone";

  private Show() {}

  /// The plan of the statement; null if it is another one.
  ///
  /// @param zone of the session
  public static Prepared.@Nullable Planned plan(
      String sql, List<Token> tokens, List<ShownSetting> ofEngine, Zone zone) {
    TokenReader in = new TokenReader(sql, tokens, 0);
    if (!in.acceptWords("show")) {
      return null;
    }
    if (in.acceptWords("all")) {
      in.expectEnd();
      return all(ofEngine, zone);
    }
    Token first = in.peek();
    String name = in.acceptWords("time", "zone") ? TIME_ZONE : dotted(in);
    in.expectEnd();
    ShownSetting setting = setting(name, first, ofEngine, zone);
    return rows(
        List.of(List.of(setting.value())),
        List.of(setting.name()),
        setting.confidential() ? Needs.ofSetting(setting.name()) : Needs.NONE);
  }

  /// @throws EngineException UNDEFINED_OBJECT
  static ShownSetting setting(String name, Token at, List<ShownSetting> ofEngine, Zone zone) {
    return settings(ofEngine, zone)
        .filter(known -> known.name().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(() ->
            new EngineException(
                    ErrorCode.UNDEFINED_OBJECT,
                    "unrecognized configuration parameter \"" + name + "\"")
                .withPosition(at.start() + 1));
  }

  static String dotted(TokenReader in) {
    StringBuilder name = new StringBuilder(in.expectIdentifier());
    while (in.acceptOperator(".")) {
      name.append('.').append(in.expectIdentifier());
    }
    return name.toString();
  }

  private static Stream<ShownSetting> settings(List<ShownSetting> ofEngine, Zone zone) {
    ShownSetting timeZone =
        new ShownSetting(
            TIME_ZONE, zone.name(), "Time zone of times that are written without one.");
    return Stream.of(ofEngine.stream(), FIXED.stream(), Stream.of(timeZone))
        .flatMap(settings -> settings)
        .sorted(Comparator.comparing(setting -> setting.name().toLowerCase(Locale.ROOT)));
  }

  /// The plan is everybody's, so it is without those that not everybody sees; `kakehashi_catalog.settings` has them.
  private static Prepared.Planned all(List<ShownSetting> ofEngine, Zone zone) {
    return rows(
        settings(ofEngine, zone)
            .filter(setting -> !setting.confidential())
            .map(setting -> List.of(setting.name(), setting.value(), setting.description()))
            .toList(),
        List.of("name", "setting", "description"),
        Needs.NONE);
  }

  private static Prepared.Planned rows(List<List<String>> rows, List<String> names, Needs needs) {
    List<List<Expr>> values = new ArrayList<>();
    for (List<String> row : rows) {
      List<Expr> constants = new ArrayList<>();
      for (String value : row) {
        Constant text = Constant.ofText(TypeOid.TEXT, value);
        constants.add(new Expr.Constant(TypeOid.TEXT, false, text.word(), text.memory()));
      }
      values.add(constants);
    }
    int[] oids = new int[names.size()];
    java.util.Arrays.fill(oids, TypeOid.TEXT);
    return new Prepared.Planned(
        Statement.Kind.QUERY,
        new PhysicalPlan.Query(new PlanNode.Values(values, oids)),
        new int[0],
        names.stream().map(name -> new Statement.Column(name, TypeOid.TEXT, -1)).toList(),
        false,
        false,
        new PlanEstimates(),
        new long[0],
        needs);
  }
}
