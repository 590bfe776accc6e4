package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators.FunctionOperator;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.Coercion;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.SequenceDefinition;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Binds nextval, currval, lastval and setval: the sequence is looked up when the statement is planned.
public final class SequenceBinder {
  private static final Set<String> NAMES = Set.of("nextval", "currval", "lastval", "setval");

  private final BindContext context;
  private final Coercion coercion;

  SequenceBinder(BindContext context, Coercion coercion) {
    this.context = context;
    this.coercion = coercion;
  }

  static boolean accepts(String name) {
    return NAMES.contains(name);
  }

  /// The call; null if there is no such function with these arguments.
  @Nullable RexNode bind(SqlNode at, String name, List<RexNode> arguments) {
    int count = arguments.size();
    if (name.equals("lastval")) {
      return count != 0
          ? null
          : call("lastval", 0, List.of(), (words, nulls, c) -> c.sequences.last());
    }
    if (count < 1 || (name.equals("setval") ? count < 2 || count > 3 : count > 1)) {
      return null;
    }
    Sequence sequence = sequence(arguments.getFirst(), at);
    SequenceDefinition numbers = sequence.definition();
    context.objects.add(sequence.sequenceId());
    context.useSequence(
        sequence.sequenceId(),
        switch (name) {
          case "nextval" -> Privilege.set(Privilege.USAGE, Privilege.UPDATE);
          case "currval" -> Privilege.set(Privilege.USAGE, Privilege.SELECT);
          default -> Privilege.set(Privilege.UPDATE);
        });
    if (name.equals("nextval")) {
      return next(sequence);
    }
    if (name.equals("currval")) {
      return call(
          name, numbers.stateId(), List.of(), (words, nulls, c) -> c.sequences.current(numbers));
    }
    List<RexNode> converted = new ArrayList<>();
    RexNode value = coercion.implicit(arguments.get(1), SqlType.of(TypeOid.INT8));
    RexNode called =
        count == 3
            ? coercion.implicit(arguments.get(2), SqlType.of(TypeOid.BOOL))
            : context.rex.makeLiteral(true);
    if (value == null || called == null) {
      return null;
    }
    converted.add(value);
    converted.add(called);
    return call(
        name,
        numbers.stateId(),
        converted,
        (words, nulls, c) -> {
          c.sequences.set(numbers, words[0], words[1] != 0);
          return words[0];
        });
  }

  /// The next value of a sequence that belongs to a column.
  public RexNode next(Sequence sequence) {
    SequenceDefinition numbers = sequence.definition();
    context.objects.add(sequence.sequenceId());
    return call(
        "nextval", numbers.stateId(), List.of(), (words, nulls, c) -> c.sequences.next(numbers));
  }

  private RexNode call(
      String name, long stateId, List<RexNode> arguments, ScalarFunction.Body body) {
    SqlType result = SqlType.of(TypeOid.INT8);
    int[] oids = arguments.stream().mapToInt(PgType::oidOf).toArray();
    ScalarFunction function = new ScalarFunction(name, oids, TypeOid.INT8, true, false, body);
    boolean nullable = arguments.stream().anyMatch(a -> a.getType().isNullable());
    return context.rex.makeCall(
        context.types.of(result, nullable),
        new FunctionOperator(function, result, true, ":" + stateId),
        arguments);
  }

  private Sequence sequence(RexNode argument, SqlNode at) {
    Constant name = Constant.of(argument);
    if (name == null || name.isNull()) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "a sequence that is not named by a constant is not supported",
          at);
    }
    String text = Values.toText(TypeOid.TEXT, name.word());
    TokenReader in = new TokenReader(text, Lexer.tokenize(text), 0);
    String first = in.expectIdentifier();
    boolean qualified = in.acceptOperator(".");
    String last = qualified ? in.expectIdentifier() : first;
    in.expectEnd();
    String schema = qualified ? first : CatalogSnapshot.DEFAULT_SCHEMA;
    context.useSchema(qualified ? first : null, text, context.position(at));
    Sequence sequence = context.catalog.sequence(schema, last);
    if (sequence == null && !context.catalog.hasSchema(schema)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_SCHEMA, "schema \"" + schema + "\" does not exist");
    }
    if (sequence == null) {
      throw new EngineException(
          ErrorCode.UNDEFINED_TABLE, "relation \"" + text + "\" does not exist");
    }
    return sequence;
  }
}
