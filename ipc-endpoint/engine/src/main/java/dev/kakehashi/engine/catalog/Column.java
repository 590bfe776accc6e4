package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.rights.Acl;
import dev.kakehashi.engine.type.SqlType;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A column of a table.
///
/// @param defaultText SQL expression of the default as written, or null
/// @param sequence what makes its values when none are given, or null
/// @param comment what COMMENT said, or null
/// @param generation SQL expression that gives every value of a generated column, with the columns' present names, or null
/// @param acl what was granted on it
public record Column(
    String name,
    SqlType type,
    boolean notNull,
    @Nullable String defaultText,
    @Nullable Owned sequence,
    @Nullable String comment,
    @Nullable String generation,
    Acl acl) {
  /// A sequence that belongs to a column and goes with it.
  public record Owned(long sequenceId, Generated generated) {}

  /// How values of a column come about.
  public enum Generated {
    /// The default names the sequence.
    SERIAL,
    /// IDENTITY, values may be given.
    BY_DEFAULT,
    /// IDENTITY, values may be given by OVERRIDING only.
    ALWAYS
  }

  private static final String HIDDEN = "\0";

  private static final Set<String> SYSTEM =
      Set.of("tableoid", "ctid", "xmin", "cmin", "xmax", "cmax");

  /// Whether PostgreSQL has a system column of the name in every table.
  public static boolean isSystemName(String name) {
    return SYSTEM.contains(name);
  }

  /// The name of a column that has the values of an index's expression.
  ///
  /// @param number unique in the store, so that the column is like none of another table
  public static String hiddenName(long number) {
    return HIDDEN + number;
  }

  /// Whether it is there for the expression of an index, its generation, and no statement can name it.
  public boolean hidden() {
    return name.startsWith(HIDDEN);
  }

  /// Its name, or the expression that it is there for.
  public String shownName() {
    return hidden() && generation != null ? generation : name;
  }

  public Column(String name, SqlType type, boolean notNull, @Nullable String defaultText) {
    this(name, type, notNull, defaultText, null, null, null, Acl.EMPTY);
  }

  /// The sequence of an identity column, else null.
  public @Nullable Owned identity() {
    return sequence == null || sequence.generated() == Generated.SERIAL ? null : sequence;
  }

  /// Whether the sequence belongs to it.
  public boolean owns(long sequenceId) {
    return sequence != null && sequence.sequenceId() == sequenceId;
  }

  public Column withSequence(@Nullable Owned owned) {
    return new Column(name, type, notNull, defaultText, owned, comment, generation, acl);
  }

  public Column withName(String newName) {
    return new Column(newName, type, notNull, defaultText, sequence, comment, generation, acl);
  }

  public Column withType(SqlType newType) {
    return new Column(name, newType, notNull, defaultText, sequence, comment, generation, acl);
  }

  public Column withNotNull(boolean refusesNull) {
    return new Column(name, type, refusesNull, defaultText, sequence, comment, generation, acl);
  }

  public Column withDefault(@Nullable String text) {
    return new Column(name, type, notNull, text, sequence, comment, generation, acl);
  }

  public Column withComment(@Nullable String text) {
    return new Column(name, type, notNull, defaultText, sequence, text, generation, acl);
  }

  /// The same column with values of an expression; null: it is an ordinary one.
  public Column withGeneration(@Nullable String expression) {
    return new Column(name, type, notNull, defaultText, sequence, comment, expression, acl);
  }

  /// The same column with other grants.
  public Column withAcl(Acl granted) {
    return new Column(name, type, notNull, defaultText, sequence, comment, generation, granted);
  }
}
