package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// The arguments of a call of which some have names, `f(1, b => 2)`, in the places that the function has for them; what is left out before
/// them has its default.
///
/// PostgreSQL gives names to the parameters of the few functions that [#FUNCTIONS] lists. Each has one list of names, however many of them
/// a call may leave out at its end.
final class NamedArguments {
  /// Parameters of a function, with their names.
  ///
  /// @param names in the order of the parameters
  /// @param defaults of the last parameters: integers, doubles and booleans
  /// @param variadic whether the last one is VARIADIC; then a call says so
  /// @param types what is left out is null of these; of such a function all calls get all arguments. Empty: what is left out at the end is
  ///     not there
  private record Parameters(
      List<String> names, List<Object> defaults, boolean variadic, int[] types, int required) {
    static Parameters of(String names, Object... defaults) {
      return new Parameters(List.of(names.split(",", -1)), List.of(defaults), false, new int[0], 0);
    }

    static Parameters variadic(String names) {
      return new Parameters(List.of(names.split(",", -1)), List.of(), true, new int[0], 0);
    }

    /// @param required that many are not left out
    static Parameters typed(int required, String names, int... types) {
      return new Parameters(List.of(names.split(",", -1)), List.of(), false, types, required);
    }

    /// The default of a parameter; null if it has none.
    @Nullable Object defaultOf(int parameter) {
      int first = names.size() - defaults.size();
      return parameter < first ? null : defaults.get(parameter - first);
    }
  }

  private static final Parameters FIELD = Parameters.of("from_json,field_name");
  private static final Parameters ELEMENT = Parameters.of("from_json,element_index");
  private static final Parameters PATH = Parameters.variadic("from_json,path_elems");
  private static final Parameters JSON = Parameters.of("from_json");
  private static final String RECEIVE = "queue,max,wait,lease,group,hold";

  private static final Map<String, Parameters> FUNCTIONS =
      Map.ofEntries(
          Map.entry(
              "make_interval",
              Parameters.of("years,months,weeks,days,hours,mins,secs", 0, 0, 0, 0, 0, 0, 0.0)),
          Map.entry(
              "enqueue",
              Parameters.typed(
                  2,
                  "queue,payload,key,fair,priority,run_at,unique_key,unique_for",
                  TypeOid.TEXT,
                  TypeOid.JSONB,
                  TypeOid.TEXT,
                  TypeOid.TEXT,
                  TypeOid.INT4,
                  TypeOid.TIMESTAMPTZ,
                  TypeOid.TEXT,
                  TypeOid.INTERVAL)),
          Map.entry(
              "receive",
              Parameters.typed(
                  1,
                  RECEIVE,
                  TypeOid.TEXT,
                  TypeOid.INT4,
                  TypeOid.INTERVAL,
                  TypeOid.INTERVAL,
                  TypeOid.TEXT,
                  TypeOid.TEXT)),
          Map.entry(
              "complete_and_receive",
              Parameters.typed(
                  2,
                  "tokens," + RECEIVE,
                  TypeOid.arrayOf(TypeOid.TEXT),
                  TypeOid.TEXT,
                  TypeOid.INT4,
                  TypeOid.INTERVAL,
                  TypeOid.INTERVAL,
                  TypeOid.TEXT,
                  TypeOid.TEXT)),
          Map.entry("extend", Parameters.typed(1, "token,lease", TypeOid.TEXT, TypeOid.INTERVAL)),
          Map.entry(
              "fail",
              Parameters.typed(
                  1, "token,error,retry_in", TypeOid.TEXT, TypeOid.TEXT, TypeOid.INTERVAL)),
          Map.entry("make_date", Parameters.of("year,month,day")),
          Map.entry("make_time", Parameters.of("hour,min,sec")),
          Map.entry("make_timestamp", Parameters.of("year,month,mday,hour,min,sec")),
          Map.entry("make_timestamptz", Parameters.of("year,month,mday,hour,min,sec,timezone")),
          Map.entry("parse_ident", Parameters.of("str,strict", true)),
          Map.entry(
              "jsonb_set", Parameters.of("jsonb_in,path,replacement,create_if_missing", true)),
          Map.entry(
              "jsonb_set_lax",
              Parameters.of(
                  "jsonb_in,path,replacement,create_if_missing,null_value_treatment",
                  true,
                  "use_json_null")),
          Map.entry("jsonb_insert", Parameters.of("jsonb_in,path,replacement,insert_after", false)),
          Map.entry("jsonb_delete", PATH),
          Map.entry("json_object_field", FIELD),
          Map.entry("json_object_field_text", FIELD),
          Map.entry("jsonb_object_field", FIELD),
          Map.entry("jsonb_object_field_text", FIELD),
          Map.entry("json_array_element", ELEMENT),
          Map.entry("json_array_element_text", ELEMENT),
          Map.entry("jsonb_array_element", ELEMENT),
          Map.entry("jsonb_array_element_text", ELEMENT),
          Map.entry("json_extract_path", PATH),
          Map.entry("json_extract_path_text", PATH),
          Map.entry("jsonb_extract_path", PATH),
          Map.entry("jsonb_extract_path_text", PATH),
          Map.entry("json_array_elements", JSON),
          Map.entry("json_array_elements_text", JSON),
          Map.entry("jsonb_array_elements", JSON),
          Map.entry("jsonb_array_elements_text", JSON),
          Map.entry("json_each", JSON),
          Map.entry("json_each_text", JSON),
          Map.entry("jsonb_each", JSON),
          Map.entry("jsonb_each_text", JSON));

  private final ExpressionBinder expressions;
  private final SqlNode at;
  private final String function;

  /// As they are written: with VARIADIC and the names, then without both.
  private final List<SqlNode> written;

  private final List<SqlNode> values = new ArrayList<>();

  /// Empty for an argument without a name.
  private final List<String> names = new ArrayList<>();

  /// The values in the places of the parameters, and the call itself for defaults.
  private final List<SqlNode> nodes = new ArrayList<>();

  /// @param written the arguments, some of which have names
  /// @throws EngineException SYNTAX_ERROR if one without a name follows one with a name, or a name comes twice
  NamedArguments(ExpressionBinder expressions, SqlNode at, String function, List<SqlNode> written) {
    this.expressions = expressions;
    this.at = at;
    this.function = function;
    this.written = written;
    for (SqlNode argument : written) {
      SqlNode inner = withoutVariadic(argument);
      String name = isNamed(inner) ? name((SqlCall) inner) : "";
      if (name.isEmpty() && !names.isEmpty() && !names.getLast().isEmpty()) {
        throw syntaxError("positional argument cannot follow named argument", argument);
      }
      if (!name.isEmpty() && names.contains(name)) {
        throw syntaxError("argument name \"" + name + "\" used more than once", argument);
      }
      names.add(name);
      values.add(name.isEmpty() ? inner : ((SqlCall) inner).operand(1));
    }
  }

  /// Whether an argument has a name, or the function gets all of them in any case.
  static boolean areIn(String function, List<SqlNode> arguments) {
    Parameters parameters = FUNCTIONS.get(function);
    return (parameters != null && parameters.types.length > 0) || areIn(arguments);
  }

  /// Whether an argument has a name.
  static boolean areIn(List<SqlNode> arguments) {
    return arguments.stream().anyMatch(argument -> isNamed(withoutVariadic(argument)));
  }

  private static boolean isNamed(SqlNode node) {
    return ExpressionBinder.isCall(node, Marks.NAMED_CALL);
  }

  private static SqlNode withoutVariadic(SqlNode node) {
    return ExpressionBinder.isCall(node, Marks.VARIADIC_CALL) ? ((SqlCall) node).operand(0) : node;
  }

  /// The name in a [Marks#NAMED_CALL].
  static String name(SqlCall named) {
    return ((SqlIdentifier) named.operand(0)).getSimple();
  }

  /// Whether the last argument is VARIADIC.
  boolean isVariadic() {
    return !written.isEmpty() && ExpressionBinder.isCall(written.getLast(), Marks.VARIADIC_CALL);
  }

  /// Places of the arguments in the statement, in the order of the parameters; known in the call of [#resolve].
  List<SqlNode> nodes() {
    return nodes;
  }

  /// Binds the arguments in the order in which they are written, and makes the call of them in the order of the parameters.
  ///
  /// @throws EngineException UNDEFINED_FUNCTION with the arguments' names and types if there is no such function
  <T> T resolve(Function<SqlNode, RexNode> binding, Function<List<RexNode>, T> call) {
    List<RexNode> bound = values.stream().map(binding).toList();
    List<RexNode> placed = placed(bound);
    if (placed == null) {
      throw noFunction(bound);
    }
    try {
      return call.apply(placed);
    } catch (EngineException refused) {
      throw refused.code() == ErrorCode.UNDEFINED_FUNCTION ? noFunction(bound) : refused;
    }
  }

  /// The arguments up to the last one that is given; null if the function does not have these names, or needs what is left out.
  private @Nullable List<RexNode> placed(List<RexNode> bound) {
    Parameters parameters = FUNCTIONS.get(function);
    if (parameters == null || parameters.variadic != isVariadic()) {
      return null;
    }
    @Nullable RexNode[] placed = new RexNode[parameters.names.size()];
    nodes.clear();
    nodes.addAll(Collections.nCopies(parameters.names.size(), at));
    int last = -1;
    for (int i = 0; i < bound.size(); i++) {
      int place = names.get(i).isEmpty() ? i : parameters.names.indexOf(names.get(i));
      if (place < 0 || place >= placed.length || placed[place] != null) {
        return null;
      }
      placed[place] =
          parameters.types.length == 0
              ? bound.get(i)
              : typed(bound.get(i), parameters.types[place], values.get(i));
      nodes.set(place, values.get(i));
      last = Math.max(last, place);
    }
    List<RexNode> all = new ArrayList<>();
    for (int i = 0; i < parameters.types.length; i++) {
      RexNode given = placed[i];
      if (given == null && i < parameters.required) {
        return null;
      }
      all.add(
          given != null
              ? given
              : expressions.coercion.constant(Constant.ofNull(SqlType.of(parameters.types[i]))));
    }
    if (parameters.types.length > 0) {
      return all;
    }
    for (int i = 0; i <= last; i++) {
      RexNode given = placed[i];
      Object value = given == null ? parameters.defaultOf(i) : null;
      if (given == null && value == null) {
        return null;
      }
      all.add(given != null ? given : constant(value));
    }
    return all;
  }

  /// An argument without a type of its own gets that of the parameter, and json is taken for jsonb.
  private RexNode typed(RexNode given, int oid, SqlNode node) {
    int from = PgType.oidOf(given);
    if (from == Types.UNKNOWN) {
      return expressions.calls.argument(given, oid, node);
    }
    RexNode converted =
        from == TypeOid.JSON && oid == TypeOid.JSONB
            ? expressions.coercion.convert(given, SqlType.of(oid), CastContext.ASSIGNMENT)
            : null;
    return converted == null ? given : converted;
  }

  private RexNode constant(@Nullable Object value) {
    return expressions.coercion.constant(
        switch (value) {
          case Integer number -> Constant.of(SqlType.of(TypeOid.INT4), number);
          case Boolean truth -> Constant.of(SqlType.of(TypeOid.BOOL), truth ? 1 : 0);
          case Double number ->
              Constant.of(SqlType.of(TypeOid.FLOAT8), Double.doubleToRawLongBits(number));
          case String text -> Constant.ofText(TypeOid.TEXT, text);
          case null, default -> throw new IllegalArgumentException("default " + value);
        });
  }

  private EngineException noFunction(List<RexNode> bound) {
    List<String> arguments = new ArrayList<>();
    for (int i = 0; i < bound.size(); i++) {
      String type = Types.name(PgType.oidOf(bound.get(i)));
      arguments.add(names.get(i).isEmpty() ? type : names.get(i) + " => " + type);
    }
    return expressions.calls.noFunction(
        at, function + "(" + String.join(", ", arguments) + ")", false);
  }

  private EngineException syntaxError(String message, SqlNode node) {
    return expressions.context.error(ErrorCode.SYNTAX_ERROR, message, node);
  }
}
