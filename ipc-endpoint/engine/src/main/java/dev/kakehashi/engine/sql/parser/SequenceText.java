package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.sql.lexer.Lexer;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.spelling.TranslatedText;
import java.util.List;
import java.util.Set;

/// Names of sequences in the text of expressions. Stateless and thread-safe.
public final class SequenceText {
  private static final Set<String> FUNCTIONS = Set.of("nextval", "currval", "setval");

  private SequenceText() {}

  /// The name as a string constant.
  public static String literal(String schema, String name) {
    String quoted = TranslatedText.quoted(schema) + "." + TranslatedText.quoted(name);
    return "'" + quoted.replace("'", "''") + "'";
  }

  /// Text with the sequence's other name.
  public static String renamed(String text, Sequence from, Sequence to) {
    List<Token> tokens = Lexer.tokenize(text);
    StringBuilder result = new StringBuilder();
    int copied = 0;
    for (int i = 2; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      if (token.kind() == Token.Kind.STRING
          && tokens.get(i - 1).isOperator("(")
          && tokens.get(i - 2).isIdentifier()
          && FUNCTIONS.contains(tokens.get(i - 2).text())
          && names(token.text(), from)) {
        result.append(text, copied, token.start()).append(literal(to.schema(), to.name()));
        copied = token.end();
      }
    }
    return result.append(text.substring(copied)).toString();
  }

  private static boolean names(String text, Sequence sequence) {
    QualifiedName name = new TokenReader(text, Lexer.tokenize(text), 0).name();
    String schema = name.schema();
    return name.name().equals(sequence.name())
        && sequence.schema().equals(schema == null ? CatalogSnapshot.DEFAULT_SCHEMA : schema);
  }
}
