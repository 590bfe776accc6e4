package dev.kakehashi.engine.ddl;

import java.util.Collection;
import java.util.function.Supplier;

/// User who runs a DDL statement.
///
/// @param role number of the role whose rights count
/// @param session number of the role that has logged in
/// @param sessionName its name, also if it is no role
/// @param operator name of the user who has been a superuser before there were roles: the endpoint's own OS user
/// @param users names of all who could get in before there were roles, as far as they are known
/// @param locations names of the locations that the settings have
public record Definer(
    long role,
    long session,
    String sessionName,
    String operator,
    Supplier<Collection<String>> users,
    Supplier<Collection<String>> locations) {}
