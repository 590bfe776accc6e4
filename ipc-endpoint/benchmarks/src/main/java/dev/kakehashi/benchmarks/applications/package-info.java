/// Native applications against statements, PL/pgSQL and what the engine has built in.
@NullMarked
package dev.kakehashi.benchmarks.applications;

import org.jspecify.annotations.NullMarked;
