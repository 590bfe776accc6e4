package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column.Generated;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.parser.DdlStatement.SequenceColumn;
import dev.kakehashi.protocol.ErrorCode;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Parser of GENERATED ... AS IDENTITY, and of what ALTER COLUMN does to identity columns.
final class IdentityParser {
  private final TokenReader in;

  IdentityParser(TokenReader in) {
    this.in = in;
  }

  /// Identity column, by what follows GENERATED.
  ///
  /// @param conflicts gets what contradicts or does not fit an identity column; may throw it
  SequenceColumn generated(Consumer<EngineException> conflicts) {
    Generated generated = when();
    in.expectWord("as");
    in.expectWord("identity");
    SequenceOptions options = SequenceOptions.NONE;
    if (in.acceptOperator("(")) {
      options = new SequenceOptionsParser(in, conflicts).options(false);
      in.expectOperator(")");
      SequenceOptions.Owner owner = options.owner();
      boolean owned = owner != null && owner.column() != null;
      if (owned || options.typeOid() != null) {
        conflicts.accept(
            new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options"));
      }
    }
    return new SequenceColumn(generated, options);
  }

  private Generated when() {
    if (in.acceptWords("always")) {
      return Generated.ALWAYS;
    }
    in.expectWord("by");
    in.expectWord("default");
    return Generated.BY_DEFAULT;
  }

  /// Alteration that follows ALTER COLUMN name; null if it is about something else.
  @Nullable Alteration alteration(String column) {
    if (in.acceptWords("add")) {
      in.expectWord("generated");
      return new Alteration.AddIdentity(column, generated(SequenceOptionsParser.THROWN));
    }
    if (in.acceptWords("drop", "identity")) {
      return new Alteration.DropIdentity(column, in.acceptWords("if", "exists"));
    }
    SequenceOptionsParser options = new SequenceOptionsParser(in);
    Generated generated = null;
    int start = in.at;
    while (true) {
      if (in.acceptWords("set", "generated")) {
        if (generated != null) {
          in.at--;
          throw in.syntaxError();
        }
        generated = when();
      } else if (!options.change()) {
        break;
      }
    }
    return in.at == start
        ? null
        : new Alteration.SetIdentity(column, generated, options.collected());
  }
}
