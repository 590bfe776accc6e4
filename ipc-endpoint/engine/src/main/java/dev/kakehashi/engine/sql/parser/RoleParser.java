package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleName;
import dev.kakehashi.engine.sql.parser.RightsStatement.RoleOptions;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Parses CREATE, ALTER and DROP of ROLE, USER and GROUP, and DROP and REASSIGN OWNED.
final class RoleParser {
  private static final int MAX_NAME_BYTES = 63;

  private final TokenReader in;

  // Options that were read so far.
  private @Nullable Boolean superuser;
  private @Nullable Boolean inherits;
  private @Nullable Boolean createsRoles;
  private @Nullable Boolean createsDatabases;
  private @Nullable Boolean logsIn;
  private @Nullable String password;
  private @Nullable String validUntil;
  private final List<String> inRoles = new ArrayList<>();
  private final List<RoleName> members = new ArrayList<>();
  private final List<RoleName> admins = new ArrayList<>();

  RoleParser(TokenReader in) {
    this.in = in;
  }

  /// @param user whether it may log in unless it says otherwise
  RightsStatement create(boolean user) {
    Token at = in.peek();
    RoleName name = roleName();
    if (name.word() != null) {
      throw reserved(name, at);
    }
    logsIn = user ? Boolean.TRUE : null;
    boolean presetLogin = user;
    in.acceptWords("with");
    while (!in.atEnd() && !in.peek().isOperator(";")) {
      if (presetLogin && (in.peek().isWord("login") || in.peek().isWord("nologin"))) {
        logsIn = null;
        presetLogin = false;
      }
      option(true);
    }
    return new RightsStatement.CreateRole(name.name(), options());
  }

  private static EngineException reserved(RoleName name, Token at) {
    boolean everybody = name.word() == RoleName.Special.PUBLIC;
    return new EngineException(
            ErrorCode.RESERVED_NAME,
            everybody
                ? "role name \"public\" is reserved"
                : "%s cannot be used as a role name here"
                    .formatted(
                        name.word() == RoleName.Special.SESSION_USER
                            ? "SESSION_USER"
                            : at.text().toUpperCase(java.util.Locale.ROOT)))
        .withPosition(at.start() + 1);
  }

  RightsStatement alter() {
    if (in.peek().isWord("all")) {
      throw in.notSupported("ALTER ROLE ALL");
    }
    Token at = in.peek();
    RoleName name = roleName();
    if (name.word() == RoleName.Special.PUBLIC) {
      throw undefined(name.name(), at);
    }
    if (in.acceptWords("rename", "to")) {
      Token to = in.peek();
      RoleName target = roleName();
      if (target.word() != null || name.word() != null) {
        throw reserved(target.word() != null ? target : name, to);
      }
      return new RightsStatement.RenameRole(name.name(), target.name());
    }
    if (in.peek().isWord("set") || in.peek().isWord("reset") || in.peek().isWord("in")) {
      throw in.notSupported("ALTER ROLE ... " + in.peek().text());
    }
    in.acceptWords("with");
    while (!in.atEnd() && !in.peek().isOperator(";")) {
      option(false);
    }
    return new RightsStatement.AlterRole(name, options());
  }

  /// ALTER GROUP, which also changes who is a member.
  RightsStatement alterGroup() {
    int before = in.at;
    RoleName group = roleName();
    boolean add = in.acceptWords("add", "user");
    if (add || in.acceptWords("drop", "user")) {
      return new RightsStatement.GrantRole(add, List.of(group.name()), roleNames(), false, null);
    }
    in.at = before;
    return alter();
  }

  RightsStatement drop() {
    boolean ifExists = in.acceptWords("if", "exists");
    return new RightsStatement.DropRole(roleNames(), ifExists);
  }

  RightsStatement dropOwned() {
    return new RightsStatement.DropOwned(roleNames(), in.cascade());
  }

  RightsStatement reassignOwned() {
    List<RoleName> roles = roleNames();
    in.expectWord("to");
    return new RightsStatement.ReassignOwned(roles, roleName());
  }

  private RoleOptions options() {
    return new RoleOptions(
        superuser,
        inherits,
        createsRoles,
        createsDatabases,
        logsIn,
        password,
        validUntil,
        List.copyOf(inRoles),
        List.copyOf(members),
        List.copyOf(admins));
  }

  private void option(boolean creating) {
    Token word = in.next();
    if (word.kind() != Token.Kind.WORD) {
      in.at--;
      throw in.syntaxError();
    }
    switch (word.text()) {
      case "superuser", "nosuperuser" -> superuser = once(superuser, !isNo(word), word);
      case "inherit", "noinherit" -> inherits = once(inherits, !isNo(word), word);
      case "createrole", "nocreaterole" -> createsRoles = once(createsRoles, !isNo(word), word);
      case "createdb", "nocreatedb" -> createsDatabases = once(createsDatabases, !isNo(word), word);
      case "login", "nologin" -> logsIn = once(logsIn, !isNo(word), word);
      case "noreplication", "nobypassrls" -> {}
      case "replication", "bypassrls" ->
          throw TokenReader.notSupported(
              word, word.text().toUpperCase(java.util.Locale.ROOT) + " of a role");
      case "connection" -> connectionLimit(word);
      case "encrypted" -> {
        in.expectWord("password");
        password(word);
      }
      case "password" -> password(word);
      case "valid" -> {
        in.expectWord("until");
        if (validUntil != null) {
          throw conflicting(word);
        }
        validUntil = string();
      }
      case "user" -> members(creating, word, members);
      case "role" -> members(creating, word, members);
      case "admin" -> members(creating, word, admins);
      case "in" -> {
        if (!creating || !(in.acceptWords("role") || in.acceptWords("group"))) {
          throw TokenReader.notSupported(word, "this option of a role");
        }
        for (RoleName each : roleNames()) {
          inRoles.add(each.name());
        }
      }
      default ->
          throw new EngineException(
                  ErrorCode.SYNTAX_ERROR, "unrecognized role option \"" + word.text() + "\"")
              .withPosition(word.start() + 1);
    }
  }

  private void members(boolean creating, Token word, List<RoleName> to) {
    if (!creating && !word.isWord("user")) {
      in.at--;
      throw in.syntaxError();
    }
    to.addAll(roleNames());
  }

  private static boolean isNo(Token word) {
    return word.text().startsWith("no");
  }

  private static boolean once(@Nullable Boolean before, boolean value, Token at) {
    if (before != null) {
      throw conflicting(at);
    }
    return value;
  }

  private static EngineException conflicting(Token at) {
    return new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options")
        .withPosition(at.start() + 1);
  }

  private void connectionLimit(Token word) {
    in.expectWord("limit");
    boolean negative = in.acceptOperator("-");
    Token number = in.next();
    if (number.kind() != Token.Kind.NUMBER) {
      in.at--;
      throw in.syntaxError();
    }
    if (!negative || !number.text().equals("1")) {
      throw TokenReader.notSupported(word, "CONNECTION LIMIT");
    }
  }

  private void password(Token word) {
    if (password != null) {
      throw conflicting(word);
    }
    password = in.acceptWords("null") ? RoleOptions.NONE : string();
  }

  private String string() {
    if (in.peek().kind() != Token.Kind.STRING) {
      throw in.syntaxError();
    }
    return in.next().text();
  }

  // ---- names ----

  List<RoleName> roleNames() {
    List<RoleName> names = new ArrayList<>();
    do {
      names.add(roleName());
    } while (in.acceptOperator(","));
    return names;
  }

  RoleName roleName() {
    Token first = in.peek();
    if (first.isWord("current_user") || first.isWord("current_role")) {
      in.next();
      return new RoleName(first.text(), RoleName.Special.CURRENT_ROLE);
    }
    if (first.isWord("session_user")) {
      in.next();
      return new RoleName(first.text(), RoleName.Special.SESSION_USER);
    }
    if (first.isWord("public")) {
      in.next();
      return new RoleName(first.text(), RoleName.Special.PUBLIC);
    }
    String name = in.expectName();
    if (name.equals("public")) {
      return new RoleName(name, RoleName.Special.PUBLIC);
    }
    if (name.equals("none")) {
      throw new EngineException(ErrorCode.RESERVED_NAME, "role name \"none\" is reserved")
          .withPosition(first.start() + 1);
    }
    if (name.getBytes(java.nio.charset.StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
      throw new EngineException(
              ErrorCode.INVALID_PARAMETER_VALUE,
              "the name of a role has at most " + MAX_NAME_BYTES + " bytes")
          .withPosition(first.start() + 1);
    }
    return new RoleName(name, null);
  }

  private static EngineException undefined(String name, Token at) {
    return new EngineException(ErrorCode.UNDEFINED_OBJECT, "role \"" + name + "\" does not exist")
        .withPosition(at.start() + 1);
  }
}
